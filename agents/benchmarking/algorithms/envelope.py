"""envelope: Envelope Q-learning, one network for all weightings. Policies are the greedy ones of the weightings."""

from __future__ import annotations

from typing import Any

from morl_baselines.multi_policy.envelope.envelope import Envelope

from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import Weighted, reproducible

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "initial_epsilon": 1.0,
    "final_epsilon": 0.1,
    "exploration": 0.5,  # share of the steps over which epsilon falls; lambda rises over all
    "tau": 0.01,
    "buffer_size": 50_000,
    "net_arch": [128, 128],
    "batch_size": 64,
    "learning_starts": 200,
    "num_sample_w": 4,
}


def train(setting: Setting) -> list[Policy]:
    """Exactly the steps of the setting."""
    options = {**DEFAULTS, **setting.options}
    exploration = options.pop("exploration")
    options["buffer_size"] = min(options["buffer_size"], setting.steps)
    with reproducible(setting.seed):
        agent = Envelope(
            setting.make(),
            epsilon_decay_steps=max(1, int(exploration * setting.steps)),
            homotopy_decay_steps=setting.steps,
            gamma=setting.gamma,
            seed=setting.seed,
            log=False,
            **options,
        )
        agent.train(setting.steps)
    return [Weighted(agent, weights) for weights in setting.weights]
