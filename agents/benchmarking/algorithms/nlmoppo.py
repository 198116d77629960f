"""nlmoppo: PPO for a utility of the expected return, here the augmented Chebyshev one, for each of a few weightings."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import torch
from morl_baselines.single_policy.ser.nl_mo_ppo import NLMOPPO

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import reproducible, share
from agents.benchmarking.nonlinear_ppo import PPO, Greedy, rounds, side_by_side

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "num_weights": 6,  # the first rows of the setting's weightings, with equal shares of the steps
    "augmentation": 0.1,  # of the utility; large values make it linear
    **PPO,
}


def chebyshev(value: torch.Tensor, weights: torch.Tensor, augmentation: float) -> torch.Tensor:
    """-max_i w_i (1 - v_i) + augmentation * sum_i w_i v_i, of an expected return v (k,), for rewards in [0, 1].

    The augmented weighted Chebyshev utility (Steuer & Choo 1983, Mathematical Programming 26) with the ideal point 1.
    """
    return (augmentation * weights * value).sum() - (weights * (1.0 - value)).max()


def train(setting: Setting) -> list[Policy]:
    """At most the steps of the setting, in whole rounds for every weighting (see `rounds`).

    Raises:
        Unsuitable: a weighting gets less than one round.
    """
    options = {**DEFAULTS, **setting.options}
    number, augmentation = min(options.pop("num_weights"), len(setting.weights)), options.pop("augmentation")
    num_envs, each = options["num_envs"], share(setting.steps, number, "weightings")
    options = rounds(each, options, "weighting")
    policies: list[Policy] = []
    with reproducible(setting.seed):
        for i, row in enumerate(setting.weights[:number]):
            weights = torch.as_tensor(row, dtype=torch.float32)
            agent = Unjudged(
                i,
                side_by_side(setting, num_envs),
                total_timesteps=each,
                gamma=setting.gamma,
                mc_k=num_envs,
                device="cpu",
                seed=setting.seed + i,
                **options,
            )
            with suppress(BudgetSpent):
                agent.train(None, partial(chebyshev, weights=weights, augmentation=augmentation), pref=weights)
            policies.append(Greedy(agent.agent, weights, setting.gamma))
    return policies


class Unjudged(NLMOPPO):
    """Spends no steps on measuring its value at the end, which only ipro needs."""

    def policy_evaluate(self, *args: Any, **kwargs: Any) -> None:
        """Nothing."""
