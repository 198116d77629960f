"""What nlmoppo and ipro share: environments side by side, options of PPO, policies that know what they have earned."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv
from numpy.typing import NDArray

from agents.benchmarking.contract import Setting, Unsuitable

PPO: dict[str, Any] = {
    "num_envs": 4,
    "num_steps": 64,  # of each environment between two updates, at least
    "learning_rate": 1e-3,
    "ent_coef": 0.01,
    "num_minibatches": 4,
    "update_epochs": 4,
}


class Greedy:
    """The most probable action of a copy of a network, given the observation, the discounted return so far, and `pref`.

    Args:
        network: the library's `Agent`.
        pref: (k,) the weights or the referent that it was trained for.
        gamma: the discount.
    """

    deterministic = True

    def __init__(self, network: Any, pref: torch.Tensor, gamma: float) -> None:
        self._network, self._pref, self._gamma = deepcopy(network), pref.clone(), gamma
        self.reset(0)

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._accrued, self._time = torch.zeros_like(self._pref), 0

    @torch.no_grad()
    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The action."""
        if self._time > 0:
            self._accrued += self._gamma ** (self._time - 1) * torch.as_tensor(reward)
        self._time += 1
        return int(self._network.get_greedy_action(torch.as_tensor(observation).float(), self._accrued, self._pref))


def side_by_side(setting: Setting, number: int) -> Any:
    """Environments of the setting, which share its budget, as one vector environment."""
    vector: Any = MOSyncVectorEnv  # typed for an iterator, reads a list
    return vector([setting.make for _ in range(number)])


def rounds(steps: int, options: dict[str, Any], what: str) -> dict[str, Any]:
    """PPO's options with `num_steps` raised so that whole rounds use nearly all of the steps.

    A vector environment needs an idle step at the start of every episode, which PPO counts and the budget does not, so
    some steps are left over all the same.

    Raises:
        Unsuitable: there are not enough for one round.
    """
    num_envs, parts = options["num_envs"], options["num_minibatches"]
    number = steps // (num_envs * options["num_steps"])
    if number < 1:
        raise Unsuitable(
            f"{steps:,} steps for each {what} are less than one round of PPO ({num_envs} environments x "
            f"{options['num_steps']} steps); give more steps, or a smaller num_steps"
        )
    num_steps = steps // (number * num_envs)
    num_steps -= num_steps % parts  # a minibatch of one element has no deviation to be normalised by
    return {**{name: value for name, value in options.items() if name != "num_envs"}, "num_steps": num_steps}
