"""Stable-Baselines3 in an outer loop learns what the weights ask for, within its budget."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from benchmark_helpers import config

from agents.benchmark import benchmark
from agents.benchmarking.budget import CountSteps, StepBudget
from agents.benchmarking.contract import Setting, Unsuitable
from agents.benchmarking.registry import load_algorithm
from agents.benchmarking.runner import full_options

pytest.importorskip("stable_baselines3")


class Two(gym.Env):
    """Action 0 earns (1, 0), action 1 earns (0, 1); five steps."""

    observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    reward_space = gym.spaces.Box(0, 1, (2,), np.float32)
    reward_dim = 2

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.left -= 1
        return np.zeros(1, np.float32), np.eye(2, dtype=np.float32)[action], self.left == 0, False, {}


def setting(name, steps, **options):
    budget = StepBudget(steps)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    full = full_options(load_algorithm(name, {}), name, options)
    return Setting(lambda: CountSteps(Two(), budget, 0), steps, 0, 1.0, weights, full), budget


@pytest.mark.parametrize(
    ("name", "options", "used"),
    [
        ("sb3-ppo", {"num_envs": 2, "n_steps": 32, "learning_rate": 0.01}, 2 * 640),
        ("sb3-dqn", {"learning_rate": 0.01, "learning_starts": 20, "target_update_interval": 50}, 2 * 696),
    ],
)
def test_it_learns_what_each_weighting_asks_for(name, options, used):
    made, budget = setting(name, 1399, num_weights=2, **options)
    policies = load_algorithm(name, {}).train(made)
    assert [policy.act(np.zeros(1, np.float32), np.zeros(2)) for policy in policies] == [0, 1]
    assert budget.used == used


@pytest.mark.parametrize("name", ["sb3-ppo", "sb3-dqn"])
def test_too_few_steps(name):
    made, _ = setting(name, 6, num_weights=3)
    with pytest.raises(Unsuitable, match="6 steps"):
        load_algorithm(name, {}).train(made)
    made, _ = setting(name, 600, num_weights=0)
    with pytest.raises(ValueError, match="num_weights must be at least 1, not 0"):
        load_algorithm(name, {}).train(made)


def test_through_the_benchmark(tmp_path):
    args = ("sb3-ppo.n_steps=8", "sb3-ppo.num_envs=2", "sb3-ppo.num_weights=2", "sb3-dqn.num_weights=2")
    names = ("sb3-ppo", "sb3-dqn")
    first = benchmark(config(tmp_path / "a", algos=names, algo_args=args, problem=None, eval_problems=2))
    assert not first.notes
    assert [first.outcomes[name][0].steps for name in names] == [2 * 96, 2 * 100]
    again = benchmark(config(tmp_path / "b", algos=names, algo_args=args, problem=None, eval_problems=2))
    for name in names:
        assert np.array_equal(first.outcomes[name][0].vectors, again.outcomes[name][0].vectors)
