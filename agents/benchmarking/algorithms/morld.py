"""morld: MORL/D, a population of discrete soft actor-critics, one for each weighting. Its archive is the set."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from morl_baselines.multi_policy.morld.morld import MORLD

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import Sampled, reproducible, share

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "pop_size": 6,
    "rounds": 2,  # in which every policy is trained once, and then all are evaluated (5 episodes, which count)
    "shared_buffer": True,
    "update_passes": 10,  # of all other policies after the training of one
    "weight_adaptation_method": None,  # or "PSA"
    "learning_rate": 1e-3,
    "learning_starts": 200,
    "batch_size": 64,
    "update_frequency": 2,
    "target_net_freq": 100,
    "net_arch": [64, 64],
    "buffer_size": 10_000,
    "autotune": False,  # the library's initial temperature is 1, as large as the largest reward
    "alpha": 0.005,  # the temperature where it is not tuned
}


def train(setting: Setting) -> list[Policy]:
    """Exactly the steps of the setting, evaluations included; they cut the last round short.

    Raises:
        ValueError: fewer policies than objectives, which the library cannot spread over the weightings.
    """
    options = {**DEFAULTS, **setting.options}
    k = setting.weights.shape[1]
    if options["pop_size"] < k:
        raise ValueError(f"pop_size must be at least {k}, the number of objectives, not {options['pop_size']}")
    own = ("pop_size", "shared_buffer", "update_passes", "weight_adaptation_method")
    arguments = {name: options.pop(name) for name in own}
    parts, learning_rate = arguments["pop_size"] * options.pop("rounds"), options.pop("learning_rate")
    options["buffer_size"] = min(options["buffer_size"], setting.steps)  # copied with every entry of the archive
    with reproducible(setting.seed):
        agent = MORLD(
            setting.make(),
            policy_name="MOSACDiscrete",
            policy_args={**options, "policy_lr": learning_rate, "q_lr": learning_rate, "device": "cpu"},
            exchange_every=share(setting.steps, parts, "trainings of a policy"),
            gamma=setting.gamma,
            seed=setting.seed,
            device="cpu",
            log=False,
            **arguments,
        )
        with suppress(BudgetSpent):
            agent.train(
                setting.steps,
                eval_env=setting.make(),
                ref_point=np.zeros(k),
                num_eval_episodes_for_front=1,
                checkpoints=False,
            )
    members = [*agent.archive.individuals, *agent.population]
    return [Sampled(member.wrapped) for member in members[: len(setting.weights)]]
