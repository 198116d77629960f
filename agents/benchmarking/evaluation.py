"""What a set of policies earns: every policy plays every judged problem, and its mean return is a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agents.benchmarking.contract import Policy

FIRST_SEED = 1_000_000_000  # of evaluation episodes, far from those of training


def returns_of(
    policies: Sequence[Policy],
    env: gym.Env[Any, Any],
    problems: Sequence[int],
    episodes: int,
    deterministic: bool = False,
    report: Callable[[int], object] = lambda _: None,
) -> NDArray[np.float64]:
    """Mean undiscounted return vectors.

    Args:
        policies: n of them. One whose attribute `deterministic` is True always acts the same on what it sees.
        env: with vector rewards (k,); `reset(options={"problem": i})` chooses the problem.
        problems: P of them.
        episodes: of each policy on each problem.
        deterministic: whether `env` is; then one episode of a deterministic policy is all.
        report: called with the number of policies that have played a problem.

    Returns:
        (P, n, k). The same seeds for every policy and every call.
    """
    k = len(np.asarray(env.get_wrapper_attr("reference_weights")))
    out = np.zeros((len(problems), len(policies), k))
    for p, problem in enumerate(problems):
        for i, policy in enumerate(policies):
            count = 1 if deterministic and getattr(policy, "deterministic", False) else episodes
            for episode in range(count):
                out[p, i] += _return(policy, env, problem, FIRST_SEED + episode, k)
            out[p, i] /= count
            report(1)
    return out


def _return(policy: Policy, env: gym.Env[Any, Any], problem: int, seed: int, k: int) -> NDArray[np.float64]:
    """The sum of rewards (k,) of one episode."""
    observation, _ = env.reset(seed=seed, options={"problem": problem})
    policy.reset(seed)
    total, reward, over = np.zeros(k), np.zeros(k, np.float32), False
    while not over:
        observation, step_reward, terminated, truncated, _ = env.step(int(policy.act(observation, reward)))
        reward = np.asarray(step_reward, np.float32)
        total += reward
        over = terminated or truncated
    return total
