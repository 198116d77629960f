"""What the tests of the benchmark share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agents.benchmarking.config import BenchmarkConfig
from agents.benchmarking.contract import Policy, Setting

MAZE = ("size=5", "slack=4")


def config(folder: Path, **changes: Any) -> BenchmarkConfig:
    """A small benchmark whose files lie in `folder`."""
    small: dict[str, Any] = {
        "env_args": MAZE, "problem": 0, "algos": ("random",), "steps": 200, "seeds": (0,), "num_solutions": 4,
        "eval_episodes": 2, "weights": 16,
    }  # fmt: skip
    return BenchmarkConfig(**small | {"output": str(folder / "runs"), "results": str(folder / "results")} | changes)


class Fixed:
    """Always the same actions, one after the other."""

    deterministic = True

    def __init__(self, actions: list[int]) -> None:
        self.actions, self.next = actions, 0

    def reset(self, seed: int) -> None:
        self.next = 0

    def act(self, observation: Any, reward: Any) -> int:
        self.next += 1
        return self.actions[(self.next - 1) % len(self.actions)]


class Walker:
    """An algorithm that takes `steps` steps and returns these policies."""

    OBSERVATION = "any"

    def __init__(self, policies: list[Policy], steps: int = 0, observation: str = "any") -> None:
        self.policies, self.steps, self.OBSERVATION = policies, steps, observation
        self.seen: list[Any] = []
        self.trained = 0

    def train(self, setting: Setting) -> list[Policy]:
        self.trained += 1
        env = setting.make()
        observation, info = env.reset()
        self.seen.append((np.asarray(observation).tolist(), info["problem"]))
        rng = np.random.default_rng(setting.seed)
        for _ in range(self.steps):
            observation, _, terminated, truncated, info = env.step(int(rng.integers(env.action_space.n)))  # type: ignore[attr-defined]
            self.seen.append((np.asarray(observation).tolist(), info["problem"]))
            if terminated or truncated:
                env.reset()
        return self.policies
