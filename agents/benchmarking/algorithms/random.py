"""random: one policy under which every action is equally likely. Who has learned anything is better."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.benchmarking.contract import Policy, Setting

OBSERVATION = "any"
DEFAULTS: dict[str, Any] = {}


class RandomPolicy:
    """Uniform over `num_actions` actions."""

    def __init__(self, num_actions: int, seed: int) -> None:
        self._num_actions, self._seed = num_actions, seed
        self._rng = np.random.default_rng(seed)

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._rng = np.random.default_rng([self._seed, seed])

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """An action, whatever is seen."""
        return int(self._rng.integers(self._num_actions))


def train(setting: Setting) -> list[Policy]:
    """No step is taken."""
    space: Any = setting.make().action_space
    return [RandomPolicy(int(space.n), setting.seed)]
