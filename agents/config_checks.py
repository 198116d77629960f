"""What can be said of options before anything is loaded: each check raises one ValueError that names the option."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, get_args

import torch

from agents.advantages import NEEDS_PROMPT_WEIGHTS, ONE_ANSWER, RewardBatch, estimate, estimator_options
from agents.config import (
    EngineConfig,
    EvaluationConfig,
    LearnerConfig,
    LoraConfig,
    PromptWeights,
    TrackerName,
    TrainConfig,
)
from agents.generation import Sampling

VLLM_HOTTEST = 2.0


def check_method(name: str, options: dict[str, Any], num_answers: int, answers_per_prompt: int) -> None:
    """An unknown method, an option that it lacks, or numbers that it refuses: its own or those of the answers."""
    known = estimator_options(name)
    if unknown := sorted(options.keys() - known.keys()):
        raise ValueError(
            f"--method-args: {name} has no option {', '.join(unknown)} (it has: {', '.join(known) or 'none'})"
        )
    if num_answers < 1:
        raise ValueError(f"--num-answers must be at least 1, not {num_answers}")
    if name in ONE_ANSWER and num_answers != 1:
        raise ValueError(f"--method {name} trains on single answers: use --num-answers 1, not {num_answers}")
    if answers_per_prompt % num_answers or answers_per_prompt // num_answers < 2:
        raise ValueError(
            f"--answers-per-prompt {answers_per_prompt} must be at least two rollouts of --num-answers {num_answers} "
            "each"
        )
    rewards = torch.zeros(1, answers_per_prompt // num_answers, num_answers, 2)
    try:
        estimate(name, RewardBatch(rewards, prompt_weights=[[0.5, 0.5]]), generator=torch.Generator(), **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"--method-args: {error}") from error


def check_prompt_alpha(method: str, alpha: float) -> None:
    """A concentration that is out of range, or that the method has no use for."""
    if not 0 < alpha < math.inf:
        raise ValueError(f"--prompt-alpha must be a positive, finite number, not {alpha}")
    if alpha != TrainConfig.prompt_alpha and method not in NEEDS_PROMPT_WEIGHTS:
        raise ValueError(f"--prompt-alpha {alpha}: --method {method} writes no weights into its prompts")


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


def check_trackers(names: Sequence[str]) -> None:
    """Trackers that are unknown, whose package is missing, or that are named twice."""
    if unknown := set(names) - set(get_args(TrackerName)):
        known = ", ".join(get_args(TrackerName))
        raise ValueError(f"--trackers: unknown {', '.join(sorted(unknown))}; there are: {known}")
    if len(set(names)) < len(names):
        raise ValueError(f"--trackers {' '.join(names)} names one twice")
    if missing := [name for name in names if find_spec(name) is None]:
        raise ValueError(f"--trackers {' '.join(names)}: not installed: {', '.join(missing)}; pip install it")


def check_backend(config: TrainConfig) -> None:
    """What the backend that is named cannot do; of "auto" it is known once the model is loaded."""
    engine = config.engine
    if config.backend == "transformers" and engine != EngineConfig():
        raise ValueError("--engine options are vLLM's, and --backend transformers has none")
    needed = config.prompt_tokens + config.sampling.max_tokens
    if engine.max_model_len is not None and engine.max_model_len < needed:
        raise ValueError(
            f"--engine.max-model-len {engine.max_model_len} does not hold --prompt-tokens {config.prompt_tokens} and "
            f"--sampling.max-tokens {config.sampling.max_tokens}: give at least {needed}, or lower these"
        )
    evaluates = config.final_evaluation or config.evaluate_every is not None
    temperatures = {"--sampling.temperature": config.sampling.temperature}
    if evaluates:
        temperatures["--evaluation.temperature"] = config.evaluation.temperature
    for option, temperature in temperatures.items():
        if config.backend == "vllm" and temperature > VLLM_HOTTEST:
            raise ValueError(f"{option} {temperature}: vLLM samples at temperatures up to {VLLM_HOTTEST:g}")


def check_engine(engine: EngineConfig) -> None:
    """Sizes that no engine can have."""
    for name in ("max_model_len", "threads"):
        if (value := getattr(engine, name)) is not None and value < 1:
            raise ValueError(f"--engine.{name.replace('_', '-')} must be at least 1, not {value}")
    if engine.memory_share is not None and not 0 < engine.memory_share <= 1:
        raise ValueError(f"--engine.memory-share must be above 0 and at most 1, not {engine.memory_share}")
    if engine.cache_gib is not None and not 0 < engine.cache_gib < math.inf:
        raise ValueError(f"--engine.cache-gib must be above 0, not {engine.cache_gib}")
    if engine.memory_share is not None and engine.cache_gib is not None:
        raise ValueError("--engine.memory-share and --engine.cache-gib both set the cache: give one of them")


def check_learner(learner: LearnerConfig) -> None:
    """Numbers outside the range in which the objective makes sense."""
    for name in ("mini_batch", "micro_batch", "epochs", "logprob_chunk", "max_skipped"):
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
    if learner.micro_batch_tokens is not None and learner.micro_batch_tokens < 1:
        raise ValueError(f"--learner.micro-batch-tokens must be at least 1, or None, not {learner.micro_batch_tokens}")
    if learner.offload_reference and learner.kl_coef == 0:
        raise ValueError("--learner.offload-reference: there is no reference with --learner.kl-coef 0")


def check_dtype(dtype: str, learner: LearnerConfig) -> None:
    """Weights in a smaller type than what is computed in."""
    if learner.param_dtype == "bfloat16" and dtype == "float32":
        raise ValueError("--learner.param-dtype bfloat16 needs --dtype bfloat16, not float32")


def check_lora(lora: LoraConfig, learner: LearnerConfig) -> None:
    """An adapter that cannot be made."""
    if lora.rank < 0:
        raise ValueError(f"--lora.rank must be at least 0, not {lora.rank}")
    if lora.rank == 0 and lora != LoraConfig():
        raise ValueError("--lora.alpha and --lora.targets need --lora.rank above 0")
    if not 0 < lora.alpha < math.inf:
        raise ValueError(f"--lora.alpha must be above 0, not {lora.alpha}")
    if not lora.targets or ("all-linear" in lora.targets and len(lora.targets) > 1):
        raise ValueError(f"--lora.targets takes names of modules, or all-linear alone, not {lora.targets}")
    if lora.rank > 0 and learner.offload_reference:
        raise ValueError("--learner.offload-reference: with --lora.rank the reference is the model without its adapter")


def check_evaluation(config: EvaluationConfig, num_answers: int) -> None:
    """Numbers that an evaluation with m answers in a response cannot use."""
    for name in ("problems", "answers", "weights"):
        if getattr(config, name) < 1:
            raise ValueError(f"evaluation: {name} must be at least 1, not {getattr(config, name)}")
    for name in ("first", "seed"):
        if getattr(config, name) < 0:
            raise ValueError(f"evaluation: {name} must be at least 0, not {getattr(config, name)}")
    Sampling(1, config.temperature, 1.0 if config.top_p is None else config.top_p)
    if config.prompt_weights not in get_args(PromptWeights):
        raise ValueError(
            f"evaluation: prompt_weights is one of {', '.join(get_args(PromptWeights))}, not {config.prompt_weights!r}"
        )
    if not config.ks or min(config.ks) < 1:
        raise ValueError(f"evaluation: ks must be whole numbers of at least 1, not {config.ks}")
    if num_answers < 1 or config.answers % num_answers:
        raise ValueError(
            f"evaluation: {config.answers} answers cannot be sampled as responses of {num_answers} answers each; "
            f"choose a multiple of {max(1, num_answers)}"
        )
