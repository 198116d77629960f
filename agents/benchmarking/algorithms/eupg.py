"""eupg: expected utility policy gradient, a policy for each of a few weightings."""

from __future__ import annotations

from typing import Any

import numpy as np
from morl_baselines.common.accrued_reward_buffer import AccruedRewardReplayBuffer
from morl_baselines.single_policy.esr.eupg import EUPG

from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import Sampled, reproducible, share

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "num_weights": 6,  # the first rows of the setting's weightings, with equal shares of the steps
    "learning_rate": 3e-3,
    "net_arch": [64],
    "longest_episode": 10_000,
}


def train(setting: Setting) -> list[Policy]:
    """The steps of the setting but for the rest of their division by `num_weights`.

    The library's own buffer keeps whole numbers, which observations in [0, 1] would be rounded to; its class takes
    the type as an argument, so the agent gets one of floats.
    """
    options = {**DEFAULTS, **setting.options}
    number = min(options["num_weights"], len(setting.weights))
    each = share(setting.steps, number, "weightings")
    policies: list[Policy] = []
    with reproducible(setting.seed):
        for i, weights in enumerate(setting.weights[:number].astype(np.float32)):

            def utility(returns: Any, _: Any = None, w: Any = weights) -> Any:
                """Of an array or tensor (..., k); the library calls it with and without the weights."""
                return returns @ (w if isinstance(returns, np.ndarray) else returns.new_tensor(w))

            agent = EUPG(
                setting.make(),
                scalarization=utility,
                weights=weights,
                buffer_size=1,  # replaced below
                net_arch=options["net_arch"],
                gamma=setting.gamma,
                learning_rate=options["learning_rate"],
                log=False,
                device="cpu",
                seed=setting.seed + i,
            )
            agent.buffer = AccruedRewardReplayBuffer(
                agent.observation_shape,
                agent.action_shape,
                agent.reward_dim,
                options["longest_episode"],
                action_dtype=np.int32,
            )
            agent.train(each)
            policies.append(Sampled(agent))
    return policies
