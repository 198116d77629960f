"""Evaluate language models on a text environment: what does test-time search get out of them?

    python agents/evaluate.py --model runs/<name>/final
    python agents/evaluate.py --env vpo/Maze-v0 --model builtin runs/a/final runs/b/final --labels start vpo grpo

Every model answers the same test problems with the same number of answers. Prints tables and writes `evaluation.json`,
`answers.jsonl`, `best_at_k.png` and, for mazes, `answers.png`.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro

from agents.cli import run_cli
from agents.comparison import Comparison
from agents.config import Backend, Dtype, EngineConfig, EvaluationConfig, parse_pairs
from agents.config_checks import check_engine, check_evaluation
from agents.evaluation import ROWS, evaluate_policy, problems_for_all
from agents.generation import make_generator
from agents.policy import Policy, open_policy
from agents.processes.launcher import refuse_launcher
from agents.prompt_weights import written_weights
from agents.report import report
from agents.runs.saved_settings import Candidate, common_environment, find_candidate

NUM_ANSWERS = 3  # of models that do not say what they were trained for


@dataclass
class EvaluateConfig:
    """Options of the command line."""

    model: tuple[str, ...]
    """Models: folders (a run's own folder means its final model), hub ids, or "builtin"."""
    labels: tuple[str, ...] = ()
    """What the models are called in tables, one for each; default their folders' names."""
    env: str | None = None
    """Environment id; default the one that the models were trained on, else vpo/Maze-v0."""
    env_args: tuple[str, ...] | None = None
    """Arguments of the environment, as name=value; default those that the models were trained with."""
    num_answers: tuple[int, ...] = ()
    """Answers in a response (m), one number for all models or one for each; default what a model was trained for, 3 for
    a model that does not say."""
    evaluation: Annotated[EvaluationConfig, tyro.conf.arg(name="")] = field(default_factory=EvaluationConfig)
    max_tokens: int | None = None
    """Longest response, in tokens; default as in training."""
    prompt_tokens: int | None = None
    """Longest prompt, in tokens; default as in training."""
    rows: int = ROWS
    """Responses that are generated side by side; less needs less memory and samples the same."""
    device: str = "auto"
    """"auto", "cpu", "cuda", "cuda:1" ..."""
    backend: Backend = "auto"
    """What generates: auto = vllm where it is installed and the model is on a CUDA device, else transformers."""
    engine: EngineConfig = field(default_factory=EngineConfig)
    dtype: Dtype = "auto"
    """What is computed in; auto = float32 on a CPU, bfloat16 elsewhere."""
    threads: int | None = None
    """CPU threads of torch; default torch's own choice."""
    problem: int = 0
    """The maze that is drawn in answers.png, counted from 0."""
    output: str | None = None
    """Folder for what is written; default runs/evaluations/<time>."""


def evaluate(config: EvaluateConfig) -> Comparison:
    """Evaluate and report as configured.

    Raises:
        ValueError: a model cannot be loaded, or options that do not fit together.
    """
    if config.threads is not None:
        if config.threads < 1:
            raise ValueError(f"--threads must be at least 1, not {config.threads}")
        torch.set_num_threads(config.threads)
    if not config.model:
        raise ValueError("--model needs at least one model")
    candidates = [find_candidate(source, config.env) for source in config.model]
    env, env_args = common_environment(candidates, config.env, config.env_args)
    counts = _counts(config, candidates)
    labels = _labels(config, candidates, counts)
    for m in counts:
        check_evaluation(config.evaluation, m)
    check_engine(config.engine)
    if not 0 <= config.problem < config.evaluation.problems:
        raise ValueError(f"--problem {config.problem} is not one of the {config.evaluation.problems} problems")
    max_tokens, prompt_tokens = config.max_tokens, config.prompt_tokens
    max_tokens = max(c.max_tokens for c in candidates) if max_tokens is None else max_tokens
    prompt_tokens = max(c.prompt_tokens for c in candidates) if prompt_tokens is None else prompt_tokens
    # All are loaded before the first one is evaluated, so that a mistake shows at once. Those that wait are in memory,
    # not on the device.
    policies = []
    for candidate in candidates:
        policy = open_policy(candidate.source, env, parse_pairs(env_args, "--env-args"), config.device, config.dtype)
        policies.append((policy, policy.model.device))
        _move(policy, "cpu")
    weights = any(written_weights(config.evaluation.prompt_weights, c.method) != "none" for c in candidates)
    asked = [(policy, m) for (policy, _), m in zip(policies, counts, strict=True)]
    problems = problems_for_all(asked, env, env_args, config.evaluation, max_tokens, prompt_tokens, weights)
    results = []
    for (policy, device), label, m, candidate in zip(policies, labels, counts, candidates, strict=True):
        _move(policy, device)
        made = make_generator(policy, config.backend, config.engine, config.rows, prompt_tokens + max_tokens)
        with closing(made) as generator:
            results.append(
                evaluate_policy(
                    policy,
                    env,
                    env_args,
                    m,
                    config.evaluation,
                    max_tokens,
                    prompt_tokens,
                    label=label,
                    problems=problems,
                    generator=generator,
                    method=candidate.method,
                )
            )
        _move(policy, "cpu")
    comparison = Comparison(results)
    output = Path(config.output or f"runs/evaluations/{time.strftime('%Y%m%d-%H%M%S')}")
    report(comparison, output, config.problem)
    return comparison


def _move(policy: Policy, device: str | torch.device) -> None:
    model: Any = policy.model  # its `to` is typed for a model only
    model.to(device)


def _counts(config: EvaluateConfig, candidates: list[Candidate]) -> list[int]:
    """m for each model."""
    given = config.num_answers
    if not given:
        return [c.num_answers or NUM_ANSWERS for c in candidates]
    if len(given) == 1:
        return list(given) * len(candidates)
    if len(given) != len(candidates):
        raise ValueError(f"--num-answers needs one number, or one for each of the {len(candidates)} models: {given}")
    return list(given)


def _labels(config: EvaluateConfig, candidates: list[Candidate], counts: list[int]) -> list[str]:
    """Different labels for all models."""
    if config.labels:
        if len(config.labels) != len(candidates):
            raise ValueError(f"--labels needs one for each of the {len(candidates)} models, not {len(config.labels)}")
        if len(set(config.labels)) < len(config.labels):
            raise ValueError(f"--labels must differ, not {', '.join(config.labels)}")
        return list(config.labels)
    labels = [c.name for c in candidates]
    for longer in ([f"{n}-m{m}" for n, m in zip(labels, counts, strict=True)], [c.source for c in candidates]):
        repeated = {name for name, times in Counter(labels).items() if times > 1}
        labels = [other if name in repeated else name for name, other in zip(labels, longer, strict=True)]
    if len(set(labels)) < len(labels):
        raise ValueError(
            f"these models are the same: {', '.join(labels)}; name each once, or with another --num-answers"
        )
    return labels


def command(config: EvaluateConfig) -> None:
    """What the command line does."""
    refuse_launcher(os.environ, "an evaluation")
    evaluate(config)


def main() -> None:
    """The command line."""
    run_cli(lambda: command(tyro.cli(EvaluateConfig, description=__doc__)))


if __name__ == "__main__":
    main()
