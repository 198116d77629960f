"""Adapters by id: what `gym.make("vpo/TokenActions-v0", env_id=...)` and `"vpo/CandidateAnswers-v0"` call."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from vpo_envs.wrappers.candidate_answers import CandidateAnswers
from vpo_envs.wrappers.token_actions import TokenActions

TOKEN_OPTIONS = ("vocabulary", "length", "window", "copies", "common", "samples", "spell")
CANDIDATE_OPTIONS = ("n", "dimension", "draws")


def make_token_actions(env_id: str = "vpo/Maze-v0", **arguments: Any) -> TokenActions:
    """`TokenActions(gym.make(env_id, ...), ...)`: its own arguments go to it, all others to the text environment."""
    return _wrapped(TokenActions, TOKEN_OPTIONS, env_id, arguments)


def make_candidate_answers(env_id: str = "vpo/Maze-v0", **arguments: Any) -> CandidateAnswers:
    """`CandidateAnswers(gym.make(env_id, ...), ...)`, with arguments as in `make_token_actions`."""
    return _wrapped(CandidateAnswers, CANDIDATE_OPTIONS, env_id, arguments)


def _wrapped(adapter: Any, own: tuple[str, ...], env_id: str, arguments: dict[str, Any]) -> Any:
    env = gym.make(env_id, **{k: v for k, v in arguments.items() if k not in own})
    return adapter(env, **{k: v for k, v in arguments.items() if k in own})
