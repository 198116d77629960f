"""Equal environment steps: the budget that the environments of a training share, and the wrapper that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

EVERY = 64  # steps between two reports of progress


class BudgetSpent(RuntimeError):
    """An algorithm asked for a step beyond its budget. What it has learned until then is its result."""


class StepBudget:
    """Steps that are left of a training.

    Args:
        steps: of all environments together, at least 1.
        report: called with the number of steps since it was called last.
    """

    def __init__(self, steps: int, report: Callable[[int], object] = lambda _: None) -> None:
        self.steps, self.used = steps, 0
        self._report, self._reported = report, 0

    def spend(self) -> None:
        """Take one step.

        Raises:
            BudgetSpent: none is left.
        """
        if self.used >= self.steps:
            raise BudgetSpent(f"all {self.steps:,} environment steps of the budget are used")
        self.used += 1
        if self.used % EVERY == 0 or self.used == self.steps:
            self._report(self.used - self._reported)
            self._reported = self.used


class CountSteps(gym.Wrapper[Any, Any, Any, Any]):
    """Takes every step from a budget, and seeds the first episode where the algorithm does not.

    Args:
        env: with vector rewards.
        budget: shared by all environments of a training.
        seed: of the first `reset` without one, and of the action space, so that a training can be repeated.
    """

    def __init__(self, env: gym.Env[Any, Any], budget: StepBudget, seed: int) -> None:
        super().__init__(env)
        self._budget, self._seed = budget, seed
        self.reward_space = env.get_wrapper_attr("reward_space")
        self.reward_dim = env.get_wrapper_attr("reward_dim")
        self.action_space.seed(seed)
        self._fresh = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; this takes no step."""
        if seed is None and self._fresh:
            seed = self._seed
        self._fresh = False
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step from the budget, then make it.

        Raises:
            BudgetSpent: none is left.
        """
        self._budget.spend()
        if isinstance(action, np.ndarray):  # single actions arrive as arrays of one number from some libraries
            action = action.item()
        return self.env.step(action)
