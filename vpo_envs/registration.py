"""The one table of environment ids."""

from __future__ import annotations

from difflib import SequenceMatcher
from importlib import import_module
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from vpo_envs.task import Task

TEXT_TASKS: dict[str, str] = {
    "vpo/Maze-v0": "vpo_envs.maze.task:MazeTask",
    "vpo/MuSiQue-v0": "vpo_envs.musique.task:MuSiQueTask",
    "vpo/EUREQA-v0": "vpo_envs.eureqa.task:EureqaTask",
    "vpo/ToolRL-v0": "vpo_envs.toolrl.task:ToolRLTask",
    "vpo/Code-v0": "vpo_envs.code.task:CodeTask",
}
"""Text environments: id -> "module:Task class". Each runs in TextEnv, and batched in TextVectorEnv."""

OTHERS: dict[str, tuple[str, str | None]] = {
    "vpo/MazeGrid-v0": ("vpo_envs.maze.grid_env:MazeGridEnv", "vpo_envs.maze.grid_vector_env:MazeGridVectorEnv"),
    "vpo/TokenActions-v0": ("vpo_envs.wrappers.factories:make_token_actions", None),
    "vpo/CandidateAnswers-v0": ("vpo_envs.wrappers.factories:make_candidate_answers", None),
}
"""Environments with numeric spaces: id -> entry points, single and batched. The last two wrap the text environment
`env_id`."""


TEXT_ENV = "vpo_envs.text_env:TextEnv"


def register_all() -> None:
    """Register every id with Gymnasium (MO-Gymnasium reads the same registry). Called once, by `import vpo_envs`."""
    for env_id, task in TEXT_TASKS.items():
        if env_id not in gym.registry:
            register_task(env_id, task)
    for env_id, (single, batched) in OTHERS.items():
        if env_id not in gym.registry:
            gym.register(env_id, entry_point=single, vector_entry_point=batched, disable_env_checker=True)


def register_task(env_id: str, task: type[Task[Any]] | str, **kwargs: Any) -> None:
    """Register a task as a text environment, single and batched: `gym.make(env_id)`, `gym.make_vec(env_id)`.

    Args:
        env_id: "namespace/Name-v0".
        task: a Task class at the top level of a module, or "module:Class".
        **kwargs: defaults for arguments of the environment or the task, `num_answers` included.

    Raises:
        ValueError: a class inside a function, or nothing of the form "module:Class".
    """
    if isinstance(task, type):
        task = f"{task.__module__}:{task.__qualname__}"
    if task.count(":") != 1 or "<locals>" in task:
        raise ValueError(f'{env_id}: a task is a class at the top level of a module or "module:Class", not {task!r}')
    gym.register(
        env_id,
        entry_point=TEXT_ENV,
        vector_entry_point="vpo_envs.text_vector_env:TextVectorEnv",
        # The checker assumes scalar rewards and would warn about every vector.
        disable_env_checker=True,
        kwargs={"task": task, **kwargs},
    )


def make_task(env_id: str, **kwargs: Any) -> Any:
    """The Task behind a text environment's id, without an environment around it.

    Args:
        env_id: one of ours, or one that was registered with `register_task`; also "module:id".
        **kwargs: the task's own arguments, `split`, `data` ...

    Raises:
        ValueError: nothing is registered under `env_id`, or it is not a text environment of this package.
    """
    from vpo_envs.text_env import make_task as build

    spec = spec_of(env_id)
    if spec.entry_point != TEXT_ENV:
        ours = ", ".join(i for i, s in gym.registry.items() if s.entry_point == TEXT_ENV)
        raise ValueError(f"{env_id!r} is no task of vpo_envs; these are: {ours}")
    arguments = {k: v for k, v in spec.kwargs.items() if k not in ("task", "num_answers", "render_mode")} | kwargs
    return build(spec.kwargs["task"], arguments)


def spec_of(env_id: str) -> EnvSpec:
    """What Gymnasium has registered under an id; "module:id" imports the module first.

    Raises:
        ValueError: no such id (the message names the near ones) or no such module.
    """
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            import_module(module)
        except ImportError as error:
            raise ValueError(f"{env_id!r}: cannot import {module!r} ({error})") from error
    if name in gym.registry:
        return gym.registry[name]
    near = suggest(name)
    hint = f"did you mean {' or '.join(near)}?" if near else 'for ids of another package write "module:id"'
    raise ValueError(f"no environment {name!r} is registered; {hint}")


def suggest(env_id: str, limit: int = 3) -> list[str]:
    """Registered ids that look like `env_id`, nearest first; case, namespace and version may be missing."""

    def likeness(known: str) -> float:
        full = known.lower()
        bare = full.rpartition("/")[2]
        forms = (full, bare, full.rpartition("-v")[0], bare.rpartition("-v")[0])
        return max(SequenceMatcher(None, env_id.lower(), form).ratio() for form in forms)

    scored = sorted(((likeness(known), known) for known in gym.registry), key=lambda pair: (-pair[0], pair[1]))
    return [known for score, known in scored[:limit] if score >= 0.7]
