"""The methods of a comparison: what `--methods` words mean, and the training configuration that each one gets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from agents.advantages import estimator_options
from agents.config import EvaluationConfig, TrainConfig, parse_pairs
from agents.runs.run import answers_per_rollout, complete
from agents.study.config import CompareConfig

WARM_START = "warm_start"
GROUPS = ("learner", "sampling", "lora")
BUDGET = ("learner.mini_batch", "learner.epochs", "sampling.max_tokens")
"""Options of these groups that all methods share: the updates of a step, and the length of a response."""


@dataclass(frozen=True)
class Method:
    """One method of a comparison."""

    label: str
    """What tables and folders call it."""
    name: str
    """A key of `agents.advantages.ESTIMATORS`, or `warm_start`."""
    method_args: tuple[str, ...] = ()
    """Options of the estimator, name=value."""
    options: tuple[str, ...] = ()
    """Training options that are the method's own, name=value with dots: learner.lr=1e-4."""

    @property
    def trains(self) -> bool:
        """Whether there is anything to train."""
        return self.name != WARM_START

    @property
    def folder_name(self) -> str:
        """The label without what folders and shells dislike."""
        return re.sub(r"[^\w.+=-]+", "-", self.label)


def parse_method(word: str) -> Method:
    """`[LABEL=]METHOD[:name=value,...]`; the label is by default the word itself.

    Raises:
        ValueError: an unknown method, or a name that is neither its argument nor an option that may differ.
    """
    head, _, tail = word.partition(":")
    label, equals, name = head.rpartition("=")
    if equals and not label.strip():
        raise ValueError(f"--methods {word}: the label is empty")
    known = {} if name == WARM_START else estimator_options(name)
    pairs = [pair.strip() for pair in re.split(r",(?=\s*[\w.]+=)", tail)] if tail else []
    arguments, options = [], []
    for pair in pairs:
        option = pair.partition("=")[0]
        if option in known:
            arguments.append(pair)
        elif _may_differ(option, name):
            options.append(pair)
        else:
            also = "num_answers" if name == WARM_START else "num_answers, prompt_alpha, learner.*, sampling.*, lora.*"
            has = ", ".join([*known, also])
            raise ValueError(f"--methods {word}: {option} cannot be set for {name} alone (its options: {has})")
    return Method(label.strip() or word, name, tuple(arguments), tuple(options))


def parse_methods(words: Sequence[str]) -> list[Method]:
    """All methods of a comparison.

    Raises:
        ValueError: no method, or two with one label or folder; see `parse_method` for the rest.
    """
    methods = [parse_method(word) for word in words]
    if not methods:
        raise ValueError("--methods needs at least one method")
    names = [m.folder_name for m in methods]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"--methods: {', '.join(twice)} twice; give each a label of its own, LABEL=METHOD")
    return methods


def training_config(config: CompareConfig, method: Method, seed: int) -> TrainConfig:
    """What a method trains with: the shared options, and its own.

    Raises:
        ValueError: options that do not fit together, with the method's label.
    """
    shared = {f.name: getattr(config, f.name) for f in fields(TrainConfig)}
    run = TrainConfig(**shared | {"seed": seed, "dry_run": False, "resume": None, "final_evaluation": False})
    run = _with_options(run, method)
    if not method.trains:
        return replace(run, method="grpo", num_answers=1 if run.num_answers is None else run.num_answers)
    try:
        # With the final evaluation, because every policy will be evaluated, with as many answers as it trains with.
        checked = complete(replace(run, method=method.name, method_args=method.method_args, final_evaluation=True))
    except ValueError as error:
        raise ValueError(f"{method.label}: {error}") from error
    return replace(checked, final_evaluation=False)


def evaluation_config(config: CompareConfig, method: Method) -> EvaluationConfig:
    """How a method's policies are evaluated: the one place where an evaluation option of a method's own belongs.

    Everything that decides about problems, answers and sampling is shared, or nothing could be compared.
    """
    del method
    return config.evaluation


def answers_of(config: CompareConfig, method: Method) -> int:
    """m: answers in one response of a method, in training and evaluation."""
    return answers_per_rollout(training_config(config, method, 0))


def _may_differ(option: str, method: str) -> bool:
    group, dot, name = option.partition(".")
    if method == WARM_START or not dot:
        return option == "num_answers" or (option == "prompt_alpha" and method != WARM_START)
    return group in GROUPS and name in asdict(getattr(TrainConfig(), group)) and option not in BUDGET


def _with_options(run: TrainConfig, method: Method) -> TrainConfig:
    for option in method.options:
        path, _, text = option.partition("=")
        value: Any = parse_pairs([f"value={text}"], f"--methods {method.label}")["value"]
        group, dot, name = path.partition(".")
        owner = getattr(run, group) if dot else run
        kind = next(str(f.type) for f in fields(owner) if f.name == (name or group))
        if kind.startswith(("int", "float")) and not isinstance(value, int | float | None):
            raise ValueError(f"{method.label}: {path} must be a number, not {text!r}")
        if value is None and "None" not in kind:
            raise ValueError(f"{method.label}: {path} cannot be None")
        run = replace(run, **{group: replace(getattr(run, group), **{name: value}) if dot else value})
    return run
