"""What the benchmark gives an algorithm, and what it wants back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray


class Unsuitable(ValueError):
    """The algorithm cannot run on this environment. The message says why, and what would do instead."""


@dataclass(frozen=True)
class Setting:
    """The training of one algorithm with one seed."""

    make: Callable[[], gym.Env[Any, Any]]
    """Makes a training environment with vector rewards, in the kind of observation that the algorithm asks for. All
    environments of one setting share the budget: the step after the last one raises `BudgetSpent`."""
    steps: int
    """Environment steps, of all environments together."""
    seed: int
    gamma: float
    """Discount, in (0, 1]."""
    weights: NDArray[np.float64]
    """(n, k): the weightings that a set of n policies is for. Rows sum to 1; row 0 are the reference weights."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the algorithm's own, over the defaults of its file."""


class Policy(Protocol):
    """One policy of the set that an algorithm returns. It may keep state from `reset` to the end of an episode."""

    def reset(self, seed: int) -> None:
        """An episode begins."""

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The action to take; `reward` (k,) is that of the step before, zeros at the first."""


class Algorithm(Protocol):
    """A module of `algorithms`, or your own object."""

    OBSERVATION: str
    """One of "vector" (a Box of floats), "table" (an integer array (1,) that numbers the states, the start being 0), or
    "any"."""

    def train(self, setting: Setting) -> Sequence[Policy]:
        """The policies that training gave, at most as many as there are weightings.

        Raises:
            Unsuitable: before any step.
        """
