"""What the tests of the adapters share."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium as gym

import vpo_envs  # noqa: F401
from vpo_envs.wrappers import TokenActions, Vocabulary

TASKS: dict[str, dict[str, Any]] = {
    "vpo/Maze-v0": {},
    "vpo/MuSiQue-v0": {"num_paragraphs": 8},
    "vpo/EUREQA-v0": {},
    "vpo/ToolRL-v0": {},
    "vpo/Code-v0": {"time_limit": 0.3},
}
"""The five text environments, the way the tests make them."""


def text_env(env_id: str, **arguments: Any) -> gym.Env[Any, Any]:
    return gym.make(env_id, **TASKS[env_id] | arguments)


@cache
def training_vocabulary(env_id: str) -> Vocabulary:
    """The derived vocabulary of an environment, made once for all tests."""
    return TokenActions(text_env(env_id)).vocabulary
