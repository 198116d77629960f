"""What can be said of options before anything is loaded: each check raises one ValueError that names the option."""

from __future__ import annotations

import math
from typing import Any

import torch

from agents.advantages import RewardBatch, estimate, estimator_options
from agents.config import EvaluationConfig, LearnerConfig, TrainConfig
from agents.generation import Sampling


def check_method(name: str, options: dict[str, Any]) -> None:
    """An unknown method, an option that it lacks, or a value that it refuses."""
    known = estimator_options(name)
    if unknown := sorted(options.keys() - known.keys()):
        raise ValueError(
            f"--method-args: {name} has no option {', '.join(unknown)} (it has: {', '.join(known) or 'none'})"
        )
    try:
        estimate(name, RewardBatch(torch.zeros(1, 2, 1, 2)), generator=torch.Generator(), **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"--method-args: {error}") from error


def check_sampling(config: TrainConfig) -> None:
    """Sampling that training cannot use."""
    sampling = config.sampling
    Sampling(sampling.max_tokens, sampling.temperature, sampling.top_p)
    if sampling.temperature == 0:
        raise ValueError(
            "--sampling.temperature must be above 0 in training: greedy responses to a prompt are all alike"
        )
    if sampling.rows < 1:
        raise ValueError(f"--sampling.rows must be at least 1, not {sampling.rows}")
    if sampling.top_p < 1 and config.learner.tis_cap is not None:
        raise ValueError(
            f"--sampling.top-p {sampling.top_p} samples from another distribution than the learner differentiates, and "
            "importance sampling between them is undefined: use --sampling.top-p 1 or --learner.tis-cap None"
        )


def check_learner(learner: LearnerConfig) -> None:
    """Numbers outside the range in which the objective makes sense."""
    for name in ("mini_batch", "micro_batch", "epochs", "logprob_chunk"):
        if getattr(learner, name) < 1:
            raise ValueError(f"--learner.{name.replace('_', '-')} must be at least 1, not {getattr(learner, name)}")
    ranges: dict[str, tuple[float, float, str]] = {
        "lr": (0, math.inf, "above 0"),
        "grad_clip": (0, math.inf, "above 0"),
        "dual_clip": (1, math.inf, "above 1"),
        "clip_low": (0, 1, "between 0 and 1"),
        "clip_high": (0, math.inf, "above 0"),
    }
    for name, (low, high, meaning) in ranges.items():
        if not low < getattr(learner, name) < high:
            raise ValueError(f"--learner.{name.replace('_', '-')} must be {meaning}, not {getattr(learner, name)}")
    for name in ("kl_coef", "weight_decay"):
        if not 0 <= getattr(learner, name) < math.inf:
            raise ValueError(f"--learner.{name.replace('_', '-')} must be at least 0, not {getattr(learner, name)}")
    if learner.tis_cap is not None and not learner.tis_cap > 0:
        raise ValueError(f"--learner.tis-cap must be above 0, or None, not {learner.tis_cap}")
    if not all(0 <= beta < 1 for beta in learner.betas):
        raise ValueError(f"--learner.betas must be in [0, 1), not {learner.betas}")


def check_evaluation(config: EvaluationConfig, num_answers: int) -> None:
    """Numbers that an evaluation with m answers in a response cannot use."""
    for name in ("problems", "answers", "weights"):
        if getattr(config, name) < 1:
            raise ValueError(f"evaluation: {name} must be at least 1, not {getattr(config, name)}")
    if config.seed < 0:
        raise ValueError(f"evaluation: seed must be at least 0, not {config.seed}")
    Sampling(1, config.temperature, 1.0 if config.top_p is None else config.top_p)
    if not config.ks or min(config.ks) < 1:
        raise ValueError(f"evaluation: ks must be whole numbers of at least 1, not {config.ks}")
    if num_answers < 1 or config.answers % num_answers:
        raise ValueError(
            f"evaluation: {config.answers} answers cannot be sampled as responses of {num_answers} answers each; "
            f"choose a multiple of {max(1, num_answers)}"
        )
