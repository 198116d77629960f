"""One algorithm with one seed: train it within its budget, let its policies play, keep what they earn."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from agents.benchmarking.budget import BudgetSpent, StepBudget
from agents.benchmarking.config import BenchmarkConfig
from agents.benchmarking.contract import Algorithm
from agents.benchmarking.environments import Arena
from agents.benchmarking.evaluation import returns_of
from agents.benchmarking.results import Outcome
from agents.benchmarking.seeding import seed_everything
from vpo_envs.scalarization import sample_weights

TRAINING_WEIGHTS, EUM_WEIGHTS = 1, 0
"""Seeds of the two sets of weightings: no algorithm trains on those that EUM asks about."""


def training_weights(config: BenchmarkConfig, arena: Arena) -> NDArray[np.float64]:
    """(num_solutions, k): the reference weights, then a scrambled Sobol sequence on the simplex."""
    k = len(arena.objectives)
    weights = sample_weights(config.num_solutions, k, sampler="sobol", rng=TRAINING_WEIGHTS)
    weights[0] = np.asarray(arena.task.reference_weights, np.float64)
    return weights


def eum_weights(config: BenchmarkConfig, arena: Arena) -> NDArray[np.float64]:
    """(weights, k): what EUM averages over."""
    return sample_weights(config.weights, len(arena.objectives), sampler="sobol", rng=EUM_WEIGHTS)


def full_options(algorithm: Any, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The algorithm's `DEFAULTS` and over them what was given.

    Raises:
        ValueError: an option that is not among the defaults.
    """
    defaults: Mapping[str, Any] = getattr(algorithm, "DEFAULTS", {})
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        raise ValueError(f"--algo-args: {name} has no option {unknown[0]}; it has {', '.join(defaults) or 'none'}")
    return {**defaults, **given}


def run_algorithm(
    name: str, algorithm: Algorithm, seed: int, config: BenchmarkConfig, arena: Arena, options: Mapping[str, Any]
) -> Outcome:
    """Train and judge.

    Raises:
        Unsuitable: before any step.
        ValueError: a result that is not a set of policies, or more of them than weightings.
        Exception: whatever the algorithm raises.
    """
    arena.check_kind(algorithm.OBSERVATION)
    seed_everything(seed)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(config.threads)
    quiet = not sys.stderr.isatty()
    began = time.process_time()
    with tqdm(total=config.steps, desc=f"{name}, seed {seed}", unit="step", disable=quiet, leave=False) as bar:
        budget = StepBudget(config.steps, bar.update)
        weights = training_weights(config, arena)
        setting = arena.setting(algorithm.OBSERVATION, budget, seed, config.gamma, weights, options)
        try:
            policies = list(algorithm.train(setting))
        except BudgetSpent:
            raise RuntimeError(
                f"took more than its {config.steps:,} steps: train() must stop, or catch BudgetSpent and return the "
                "policies that it has"
            ) from None
    seconds = time.process_time() - began
    if not 1 <= len(policies) <= config.num_solutions:
        raise ValueError(f"returned {len(policies)} policies, not 1 to {config.num_solutions} (--num-solutions)")
    total = len(policies) * len(arena.problems)
    with tqdm(total=total, desc=f"{name} plays", unit="policy", disable=quiet, leave=False) as bar:
        env = arena.evaluation_env(algorithm.OBSERVATION)
        vectors = returns_of(policies, env, arena.problems, config.eval_episodes, arena.deterministic, bar.update)
    return Outcome(name, seed, vectors, budget.used, seconds, dict(options))
