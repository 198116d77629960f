"""mpmoq: a Q-table for each of several weightings, which linear support or chance chooses."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from morl_baselines.multi_policy.multi_policy_moqlearning.mp_mo_q_learning import MPMOQLearning
from morl_baselines.single_policy.ser.mo_q_learning import MOQLearning
from numpy.typing import NDArray

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import reproducible, share

OBSERVATION = "table"
DEFAULTS: dict[str, Any] = {
    "num_policies": 6,  # trained one after the other with equal shares of the steps
    "weight_selection_algo": "ols",  # or "random"
    "learning_rate": 0.5,
    "initial_epsilon": 1.0,
    "final_epsilon": 0.3,
    "exploration": 1.0,  # share of all the steps over which epsilon falls
    "transfer_q_table": True,
    "dyna": True,  # learn from remembered steps as well
    "dyna_updates": 10,
}


class Tabular:
    """Greedy in a table; a random action where the table has no row."""

    deterministic = False

    def __init__(self, table: MOQLearning) -> None:
        self._table = table

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._table.env.action_space.seed(seed)

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The action of the highest weighted value."""
        return int(self._table.eval(observation))


def train(setting: Setting) -> list[Policy]:
    """At most the steps of the setting, the evaluation of every table included (one episode)."""
    options = {**DEFAULTS, **setting.options}
    parts, exploration = options.pop("num_policies"), options.pop("exploration")
    with reproducible(setting.seed):
        agent = MPMOQLearning(
            setting.make(),
            epsilon_decay_steps=max(1, int(exploration * setting.steps)),
            epsilon_ols=0.0,
            gamma=setting.gamma,
            seed=setting.seed,
            log=False,
            **options,
        )
        with suppress(BudgetSpent):
            agent.train(
                setting.steps,
                eval_env=setting.make(),
                ref_point=np.zeros(agent.reward_dim),
                timesteps_per_iteration=share(setting.steps, parts, "policies"),
                num_eval_weights_for_front=10,  # made, never used
                num_eval_episodes_for_front=1,
            )
    return [Tabular(table) for table in agent.policies[: len(setting.weights)]]
