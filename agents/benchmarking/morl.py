"""What the files that run MORL-Baselines share: silence, seeds, and the policies that they return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.benchmarking.contract import Unsuitable
from agents.benchmarking.seeding import seed_everything


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Inside, the library prints nothing, and all the global generators that it draws from start at `seed`."""
    seed_everything(seed)
    with redirect_stdout(_Nowhere()):
        yield


class _Nowhere:
    """A text stream that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def share(total: int, parts: int, what: str) -> int:
    """How many of the steps each part gets.

    Raises:
        Unsuitable: not a single one.
    """
    if parts < 1 or total < parts:
        raise Unsuitable(f"{total:,} environment steps cannot be shared by {parts} {what}; give more steps")
    return total // parts


class Weighted:
    """A greedy policy for one weighting, of an agent whose `eval(observation, weights)` gives the action."""

    deterministic = True

    def __init__(self, agent: Any, weights: NDArray[np.floating]) -> None:
        self._agent, self._weights = agent, weights

    def reset(self, seed: int) -> None:
        """An episode begins."""

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The action of the highest weighted value."""
        return int(self._agent.eval(observation, self._weights))


class Sampled:
    """A stochastic policy: the agent's `eval(observation, sum of rewards)` draws from PyTorch's generator."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._accrued: NDArray[np.float32] = np.zeros(1, np.float32)

    def reset(self, seed: int) -> None:
        """An episode begins."""
        torch.manual_seed(seed)
        self._accrued = np.zeros(1, np.float32)

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """A drawn action."""
        self._accrued = self._accrued + reward
        return int(self._agent.eval(observation, self._accrued))


def representatives(vectors: NDArray[np.floating], weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """At most n of m vectors (m, k): all if m <= n, else for each of the n weightings (n, k) the best one.

    Returns:
        Their numbers in increasing order, without repetition.
    """
    if len(vectors) <= len(weights):
        return np.arange(len(vectors))
    return np.unique((weights @ vectors.T).argmax(axis=1))
