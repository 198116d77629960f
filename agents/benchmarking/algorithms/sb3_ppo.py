"""sb3-ppo: Stable-Baselines3's PPO as it is, trained anew for each of a few weightings of the objectives."""

from __future__ import annotations

from functools import partial
from typing import Any

from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from agents.benchmarking.contract import Policy, Setting, Unsuitable
from agents.benchmarking.outer_loop import GreedyModel, scalar_env, weightings

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = {
    "num_weights": 6,
    "num_envs": 8,
    "n_steps": 32,
    "learning_rate": 1e-3,
    "ent_coef": 0.02,
    "batch_size": 64,
    "n_epochs": 10,
}


def train(setting: Setting) -> list[Policy]:
    """PPO learns from whole rollouts of num_envs * n_steps steps; what is left of the budget after them is not used."""
    options, chosen = dict(setting.options), weightings(setting)
    options.pop("num_weights")
    envs = options.pop("num_envs")
    rollout = envs * options["n_steps"]
    steps = setting.steps // len(chosen) // rollout * rollout
    if not steps:
        raise Unsuitable(
            f"{setting.steps} steps are less than a rollout of {rollout} for each of {len(chosen)} weightings"
        )
    policies: list[Policy] = []
    for i, weights in enumerate(chosen):
        env = DummyVecEnv([partial(scalar_env, setting, weights)] * envs)
        seed = 1000 * setting.seed + i
        model = PPO("MlpPolicy", env, gamma=setting.gamma, seed=seed, device="cpu", verbose=0, **options)
        policies.append(GreedyModel(model.learn(steps)))
    return policies
