"""What several test modules use."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import Any

import mo_gymnasium.wrappers

from vpo_envs import Task
from vpo_envs.answers import join_answers


class LinearReward(mo_gymnasium.wrappers.LinearReward):
    """MO-Gymnasium's LinearReward with arrays of its own in info.

    Version 1.3.2 puts the same weight array into the info of every step, which Gymnasium's `check_env` rejects.
    """

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        info["vector_reward"] = info["vector_reward"].copy()
        info["reward_weights"] = info["reward_weights"].copy()
        return observation, float(reward), terminated, truncated, info


def demonstrated_response(task: Task[Any], index: int, num_answers: int = 1, seed: int = 0) -> str:
    """A whole response to problem `index` that holds `num_answers` of the task's own demonstrations."""
    rng = Random(seed)
    return join_answers(task, [task.demonstration(task[index], rng) for _ in range(num_answers)])


def outputs_under_hash_seeds(program: str, *arguments: str) -> list[str]:
    """What a Python program prints in two processes with different PYTHONHASHSEED."""
    return [
        subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
