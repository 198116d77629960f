"""The outer loop: a single-objective algorithm once for each of a few weightings, the steps shared out equally."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from mo_gymnasium.wrappers import LinearReward
from numpy.typing import NDArray

from agents.benchmarking.contract import Setting, Unsuitable


def weightings(setting: Setting) -> NDArray[np.float64]:
    """(n, k): the first `num_weights` of the setting's; row 0 are the reference weights.

    Raises:
        Unsuitable: fewer steps than weightings.
    """
    wanted = int(setting.options["num_weights"])
    if wanted < 1:
        raise ValueError(f"num_weights must be at least 1, not {wanted}")
    chosen = setting.weights[:wanted]
    if setting.steps < len(chosen):
        raise Unsuitable(f"{setting.steps} steps do not suffice for {len(chosen)} weightings; lower num_weights")
    return chosen


def scalar_env(setting: Setting, weights: NDArray[np.float64]) -> gym.Env[Any, Any]:
    """A training environment whose reward is the weighted sum."""
    return LinearReward(setting.make(), weights)


class GreedyModel:
    """The policy of a Stable-Baselines3 model: its most likely action."""

    deterministic = True

    def __init__(self, model: Any) -> None:
        self._model = model

    def reset(self, seed: int) -> None:
        """An episode begins."""

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The most likely action."""
        return int(self._model.predict(observation, deterministic=True)[0])
