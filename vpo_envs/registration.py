"""The one table of environment ids."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

TEXT_TASKS: dict[str, str] = {
    "vpo/Maze-v0": "vpo_envs.maze.task:MazeTask",
}
"""Text environments: id -> "module:Task class". Each runs in TextEnv, and batched in TextVectorEnv."""

OTHERS: dict[str, str] = {
    "vpo/MazeGrid-v0": "vpo_envs.maze.grid_env:MazeGridEnv",
}
"""Environments that are not text: id -> entry point."""


def register_all() -> None:
    """Register every id with Gymnasium (MO-Gymnasium reads the same registry). Called once, by `import vpo_envs`."""
    # The checker assumes scalar rewards and would warn about every vector.
    for env_id, task in TEXT_TASKS.items():
        if env_id not in gym.registry:
            gym.register(
                env_id,
                entry_point="vpo_envs.text_env:TextEnv",
                vector_entry_point="vpo_envs.text_vector_env:TextVectorEnv",
                disable_env_checker=True,
                kwargs={"task": task},
            )
    for env_id, entry_point in OTHERS.items():
        if env_id not in gym.registry:
            gym.register(env_id, entry_point=entry_point, disable_env_checker=True)


def make_task(env_id: str, **kwargs: Any) -> Any:
    """The Task behind a text environment's id, without an environment around it.

    Raises:
        KeyError: `env_id` is not one of our text environments; the message lists them.
    """
    from vpo_envs.text_env import make_task as build

    if env_id not in TEXT_TASKS:
        raise KeyError(f"{env_id!r} is not a vpo text environment; there are {', '.join(TEXT_TASKS)}")
    return build(TEXT_TASKS[env_id], kwargs)
