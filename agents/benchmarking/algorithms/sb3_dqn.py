"""sb3-dqn: Stable-Baselines3's DQN as it is, trained anew for each of a few weightings of the objectives."""

from __future__ import annotations

from typing import Any

from stable_baselines3 import DQN

from agents.benchmarking.contract import Policy, Setting, Unsuitable
from agents.benchmarking.outer_loop import GreedyModel, scalar_env, weightings

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "num_weights": 6,
    "learning_rate": 1e-3,
    "buffer_size": 20_000,
    "learning_starts": 200,
    "batch_size": 64,
    "train_freq": 4,
    "target_update_interval": 200,
    "exploration_fraction": 0.5,
    "exploration_final_eps": 0.05,
}


def train(setting: Setting) -> list[Policy]:
    """DQN takes train_freq steps at a time; what is left of the budget after them is not used."""
    options, chosen = dict(setting.options), weightings(setting)
    options.pop("num_weights")
    steps = setting.steps // len(chosen) // options["train_freq"] * options["train_freq"]
    if not steps:
        raise Unsuitable(f"{setting.steps} steps are less than train_freq for each of {len(chosen)} weightings")
    policies: list[Policy] = []
    for i, weights in enumerate(chosen):
        env, seed = scalar_env(setting, weights), 1000 * setting.seed + i
        model = DQN("MlpPolicy", env, gamma=setting.gamma, seed=seed, device="cpu", verbose=0, **options)
        policies.append(GreedyModel(model.learn(steps)))
    return policies
