"""The evaluations that belong to a training run: small ones on the way, and first against last policy at the end."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

from agents.config import TrainConfig, parse_pairs
from agents.environment import Environment
from agents.evaluation import evaluate_policy
from agents.generation import Generator
from agents.policy import Policy, open_policy
from agents.report import evaluate_and_report
from agents.run import Run, answers_per_rollout


def evaluation_metrics(config: TrainConfig, policy: Policy, generator: Generator) -> dict[str, float]:
    """The policy on the first `config.evaluate_problems` test problems: means by name (`PolicyResult.metrics`).

    Quantities that none of the problems has are left out. No random state of training is used or changed.
    """
    result = evaluate_policy(
        policy,
        config.env,
        config.env_args,
        answers_per_rollout(config),
        replace(config.evaluation, problems=config.evaluate_problems),
        config.sampling.max_tokens,
        config.prompt_tokens,
        progress=False,
        generator=generator,
        method=config.method,
    )
    means = {name: estimate.value for name, estimate in result.metrics().items()}
    return {name: value for name, value in means.items() if math.isfinite(value)}


def evaluate_first_and_last(run: Run, policy: Policy, environment: Environment) -> None:
    """Evaluate the policy that training started from and the one that it ended with; see `evaluate_and_report`.

    Both are asked the same: of a goal_conditioned run, also the first one gets weights in its prompts.
    """
    config, m = run.config, answers_per_rollout(run.config)
    _warn_of_seen_problems(config.env, environment)
    before = open_policy(
        config.model,
        config.env,
        parse_pairs(config.env_args, "--env-args"),
        config.device,
        config.dtype,
        config.learner.param_dtype,
        config.learner.attention,
    )
    evaluate_and_report(
        {"before training": (before, m), config.method: (policy, m)},
        config.env,
        config.env_args,
        config.evaluation,
        config.sampling.max_tokens,
        config.prompt_tokens,
        run.folder / "evaluation",
        rows=config.sampling.rows,
        backend=config.backend,
        engine=config.engine,
        method=config.method,
    )


def _warn_of_seen_problems(env: str, environment: Environment) -> None:
    """Say so where the test problems are those that were trained on: a single data file is used for either split."""
    data = None if environment.task is None else environment.task.data
    if data is not None and Path(data).is_file():
        print(
            f"{env}: the evaluation asks problems of {data}, which were trained on; for unseen ones give --env-args "
            "data=FOLDER with a file for each split, or evaluate on another file with agents/evaluate.py",
            file=sys.stderr,
        )
