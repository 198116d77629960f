"""gpi-ls: generalised policy improvement with linear support: which weightings to train on follows from what is known.

The loop over weightings is here, on the library's parts (`LinearSupport`, `GPILS.train_iteration`). `GPILS.train`
evaluates all c corner weights c times in each iteration; here once, since these steps are paid from the budget.
"""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import gymnasium as gym
import numpy as np
from morl_baselines.common.evaluation import policy_evaluation_mo
from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS
from morl_baselines.multi_policy.linear_support.linear_support import LinearSupport
from numpy.typing import NDArray

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import Weighted, reproducible, share

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "iterations": 10,  # weightings that are chosen one after the other
    "eval_episodes": 1,  # in which the value of a policy is measured; they count as steps
    "learning_rate": 1e-3,
    "initial_epsilon": 1.0,
    "final_epsilon": 0.1,
    "exploration": 0.5,  # share of the steps over which epsilon falls
    "tau": 0.01,
    "buffer_size": 50_000,
    "net_arch": [128, 128],
    "num_nets": 2,
    "batch_size": 64,
    "learning_starts": 200,
}


def train(setting: Setting) -> list[Policy]:
    """Exactly the steps of the setting, evaluations included; the last iteration is cut short by them."""
    options = {**DEFAULTS, **setting.options}
    iterations, episodes, exploration = (options.pop(x) for x in ("iterations", "eval_episodes", "exploration"))
    each = share(setting.steps, iterations, "iterations")
    options["buffer_size"] = min(options["buffer_size"], setting.steps)
    with reproducible(setting.seed):
        agent = GPILS(
            setting.make(),
            epsilon_decay_steps=max(1, int(exploration * setting.steps)),
            gamma=setting.gamma,
            gradient_updates=1,
            seed=setting.seed,
            device="cpu",
            log=False,
            **options,
        )
        with suppress(BudgetSpent):
            _train(agent, setting.make(), each, episodes)
    return [Weighted(agent, weights) for weights in setting.weights]


def _train(agent: GPILS, env: gym.Env[Any, Any], each: int, episodes: int) -> None:
    """Algorithm 1 of Alegre et al. (2023), until the budget is spent."""

    def value(weights: NDArray[np.floating]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = policy_evaluation_mo(agent, env, weights, rep=episodes)[3]
        return found

    support = LinearSupport(num_objectives=agent.reward_dim, verbose=False)
    corners = list(np.eye(agent.reward_dim))
    while True:
        if support.ccs:
            agent.set_weight_support(support.get_weight_support())
            corners = support.compute_corner_weights()
            values = [value(w) for w in corners]
            priorities = [support.gpi_ls_priority(w, values) for w in corners]
            if max(priorities) <= 0.0:  # nothing to choose by
                random.shuffle(corners)
            else:
                corners = [corners[i] for i in np.argsort(priorities)[::-1]]
        chosen = [*support.get_weight_support(), *corners[:5]]
        agent.train_iteration(each, weight=corners[0], weight_support=chosen, reset_num_timesteps=False)
        for w in chosen:
            support.add_solution(value(w), w)
