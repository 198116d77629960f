"""What a set of policies earns is what their walks earn; random search finds what is there."""

from __future__ import annotations

import numpy as np
import pytest
from benchmark_helpers import Fixed

from agents.benchmarking.algorithms import random as random_policy
from agents.benchmarking.algorithms import random_search
from agents.benchmarking.budget import StepBudget
from agents.benchmarking.contract import Unsuitable
from agents.benchmarking.environments import CANDIDATES, GRID, Arena
from agents.benchmarking.evaluation import returns_of
from agents.benchmarking.indicators import found_front
from vpo_envs.scalarization import sample_weights

MAZE = {"size": 5, "slack": 4}
ONE = Arena(GRID, MAZE, problem=0)


def trained(algorithm, arena, steps, n=8):
    weights = sample_weights(n, 4, sampler="sobol")
    budget = StepBudget(steps)
    policies = algorithm.train(arena.setting(algorithm.OBSERVATION, budget, 0, 1.0, weights, {}))
    return policies, budget


def test_vectors_are_those_that_the_task_gives_for_the_same_walks():
    arena = Arena(GRID, MAZE, eval_problems=3)
    rng = np.random.default_rng(0)
    walks = [rng.integers(4, size=20).tolist() for _ in range(200)]
    vectors = returns_of([Fixed(walk) for walk in walks], arena.evaluation_env("any"), arena.problems, 1, True)
    assert vectors.shape == (3, 200, 4)
    assert vectors.any()
    names = ("UP", "DOWN", "LEFT", "RIGHT")
    for p in range(3):
        maze = arena.task[p]
        expected = [arena.task.score(maze, " ".join(names[a] for a in walk[: maze.max_steps])) for walk in walks]
        assert np.allclose(vectors[p], expected)


def test_episodes_are_averaged_where_something_is_random():
    arena = Arena(CANDIDATES, {"env_id": "vpo/ToolRL-v0", "num_problems": 20, "draws": 8}, eval_problems=2)
    first = Fixed([0])
    env = arena.evaluation_env("any")
    once = [returns_of([first], env, [1], 1)[0, 0], returns_of([first], env, [1], 8)[0, 0]]
    assert not np.allclose(*once)  # the candidates come in another order
    assert np.allclose(once[1], returns_of([first], env, [1], 8, arena.deterministic)[0, 0])
    env.reset(seed=0, options={"problem": 1})
    rewards = []
    for action in range(8):
        env.reset(seed=0, options={"problem": 1})
        rewards.append(env.step(action)[1])
    many = returns_of([random_policy.RandomPolicy(8, seed=0)], env, [1], 600)[0, 0]
    assert np.allclose(many, np.mean(rewards, axis=0), atol=0.07)


def test_random_takes_no_step():
    policies, budget = trained(random_policy, ONE, 100)
    assert (len(policies), budget.used) == (1, 0)


def test_random_search_plays_again_what_it_found():
    policies, budget = trained(random_search, ONE, 4000)
    assert budget.used == 4000
    found = returns_of(policies, ONE.evaluation_env("any"), [0], 1, True)[0]
    assert found.any(axis=1).all()
    assert len(found_front(found)) == len(policies) > 1
    few, _ = trained(random_search, ONE, 4000, n=1)
    assert len(few) == 1
    weights = sample_weights(1, 4, sampler="sobol")
    value = returns_of(few, ONE.evaluation_env("any"), [0], 1, True)[0] @ weights[0]
    assert value.item() == pytest.approx((found @ weights[0]).max())
    nothing, _ = trained(random_search, ONE, 1)
    assert len(nothing) == 1


def test_random_search_needs_one_problem():
    with pytest.raises(Unsuitable, match="--problem 0"):
        trained(random_search, Arena(GRID, MAZE), 200)
    with pytest.raises(Unsuitable, match="another order"):
        trained(random_search, Arena(CANDIDATES, {"env_id": "vpo/ToolRL-v0", "num_problems": 20}, problem=0), 20)
