"""ipro: iterated Pareto referent optimisation: PPO is asked again and again for a return that dominates a referent."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from morl_baselines.common.pareto import get_non_dominated_inds
from morl_baselines.multi_policy.ipro.ipro import IPRO
from numpy.typing import NDArray

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import representatives, reproducible, share
from agents.benchmarking.nonlinear_ppo import PPO, Greedy, rounds, side_by_side

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "referents": 8,  # the subproblems
    # Whether the box that holds the front is that of all rewards, [0, 1]. The library looks for it with 2 k further
    # subproblems, and ends when they find one vector, also if that is zero because nothing has been earned yet.
    "known_bounds": True,
    "eval_episodes": 1,  # in which the value of a policy is measured; they count as steps
    "offset": 0.1,  # of the box, on both sides
    "aug": 0.1,
    "reset_agent": False,  # whether every subproblem starts from a new network
    **PPO,
}


class Recording(IPRO):
    """Keeps a copy of every policy with its value: the library goes on training the one that it returns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.found: list[tuple[NDArray[np.float64], Greedy]] = []

    def _keep(self, value: NDArray[np.float64]) -> None:
        self.found.append((value.copy(), Greedy(self.agent.agent, self.agent.pref, self.agent.gamma)))

    def linear_train(self, *args: Any, **kwargs: Any) -> tuple[NDArray[np.float64], Any]:
        """Train for a weighting."""
        value, network = super().linear_train(*args, **kwargs)
        self._keep(value)
        return value, network

    def oracle_train(self, *args: Any, **kwargs: Any) -> tuple[NDArray[np.float64], Any]:
        """Train for a referent."""
        value, network = super().oracle_train(*args, **kwargs)
        self._keep(value)
        return value, network


def train(setting: Setting) -> list[Policy]:
    """At most the steps of the setting; the policies are those whose measured values are undominated.

    Raises:
        ValueError: a subproblem gets less than one round of PPO.
    """
    options = {**DEFAULTS, **setting.options}
    referents, episodes, num_envs = options.pop("referents"), options.pop("eval_episodes"), options["num_envs"]
    k = setting.weights.shape[1]
    known = options.pop("known_bounds")
    low, high = np.full(k, -options["offset"]), np.full(k, 1.0 + options["offset"])  # all rewards are in [0, 1]
    each = share(setting.steps, referents if known else referents + 2 * k, "subproblems")
    options = rounds(each, options, "subproblem")
    with reproducible(setting.seed):
        agent = Recording(
            side_by_side(setting, num_envs),
            iter_total_timesteps=each,
            max_iterations=referents,
            gamma=setting.gamma,
            mc_k=num_envs,
            device="cpu",
            seed=setting.seed,
            log=False,
            **options,
        )
        agent.agent.policy_evaluate = partial(agent.agent.policy_evaluate, eval_episodes=episodes)  # not 100
        with suppress(BudgetSpent):
            box = (low, high) if known else None
            agent.train(setting.make(), ref_point=low, deterministic=True, extrema=box)
    if not agent.found:
        return [Greedy(agent.agent.agent, agent.agent.pref, setting.gamma)]
    values = np.array([value for value, _ in agent.found])
    keep = np.flatnonzero(get_non_dominated_inds(values))
    keep = keep[representatives(values[keep], setting.weights)]
    return [agent.found[i][1] for i in keep]
