"""Training and policies of networks that are told which return to reach, and in how many steps: PCN and LCN."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from morl_baselines.common.pareto import get_non_dominated_inds
from numpy.typing import NDArray

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import representatives, reproducible

DEFAULTS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "batch_size": 128,
    "hidden_dim": 64,
    "horizon_scale": 0.1,  # of the steps to go, beside returns in [0, 1]
    "num_er_episodes": 300,  # random ones, that learning starts from
    "num_step_episodes": 10,  # between two rounds of updates
    "num_model_updates": 20,  # in a round
    "max_buffer_size": 100,  # episodes kept
}


class Commanded:
    """Greedy, told at every step which return is left to reach in how many steps, as in the library's own episodes."""

    deterministic = True

    def __init__(self, agent: Any, goal: NDArray[np.float32], horizon: int) -> None:
        self._agent, self._goal, self._horizon = agent, goal, horizon
        self._left, self._steps = goal, horizon

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._left, self._steps = self._goal, self._horizon + 1  # the first action takes one off

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The most probable action."""
        self._left = self._left - reward
        self._steps = max(self._steps - 1, 1)
        self._agent.set_desired_return_and_horizon(self._left, np.float32(self._steps))
        return int(self._agent.eval(observation))


def train_commands(algorithm: type[Any], setting: Setting, options: Mapping[str, Any]) -> list[Policy]:
    """Train PCN or LCN, and make a policy of each undominated return in the buffer.

    The horizon of a return is that of the shortest episode that earned it. Of more returns than weightings, the best
    for each weighting are kept.
    """
    k = setting.weights.shape[1]

    class Quiet(algorithm):
        """Writes no files, and spends no steps on evaluations that nobody reads."""

        def save(self, *args: Any, **kwargs: Any) -> None:
            """Nothing."""

        def evaluate(self, *args: Any, **kwargs: Any) -> tuple[None, None, None]:
            """Nothing."""
            return None, None, None

    with reproducible(setting.seed):
        env = setting.make()
        agent = Quiet(
            env,
            scaling_factor=np.array([1.0] * k + [options["horizon_scale"]], np.float32),
            learning_rate=options["learning_rate"],
            gamma=setting.gamma,
            batch_size=options["batch_size"],
            hidden_dim=options["hidden_dim"],
            seed=setting.seed,
            device="cpu",
            log=False,
        )
        with suppress(BudgetSpent):  # it plays whole rounds of episodes, so it asks for more
            agent.train(
                setting.steps,
                eval_env=env,
                ref_point=np.zeros(k),
                num_er_episodes=options["num_er_episodes"],
                num_step_episodes=options["num_step_episodes"],
                num_model_updates=options["num_model_updates"],
                max_return=np.ones(k, np.float32),
                max_buffer_size=options["max_buffer_size"],
            )
    episodes = [transitions for _, _, transitions in agent.experience_replay]
    episodes.sort(key=len)
    returns = np.array([transitions[0].reward for transitions in episodes])
    keep = np.flatnonzero(get_non_dominated_inds(returns))
    keep = keep[representatives(returns[keep], setting.weights)]
    return [Commanded(agent, returns[i].astype(np.float32), len(episodes[i])) for i in keep]
