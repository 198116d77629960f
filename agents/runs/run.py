"""A run's folder: its configuration, and whether it may be resumed with another one."""

from __future__ import annotations

import dataclasses
import json
import time
import typing
from collections.abc import Collection
from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from agents.advantages import ONE_ANSWER
from agents.config import TrainConfig, parse_pairs
from agents.config_checks import (
    check_backend,
    check_dtype,
    check_engine,
    check_evaluation,
    check_learner,
    check_lora,
    check_method,
    check_prompt_alpha,
    check_sampling,
    check_trackers,
)
from agents.faults import writing
from agents.runs.checkpoint import Checkpoint, latest_checkpoint

T = TypeVar("T")

SET_SIZE = 3  # the paper's
MAY_CHANGE = frozenset({"resume", "output", "name", "threads", "steps", "checkpoint_every", "keep_checkpoints",
                        "final_evaluation", "evaluation", "evaluate_every", "evaluate_problems", "trackers", "project",
                        "samples_every", "samples_prompts", "dry_run",
                        "learner.micro_batch", "learner.micro_batch_tokens", "learner.logprob_chunk",
                        "learner.gradient_checkpointing", "learner.offload_reference", "learner.share_prompts",
                        "learner.max_skipped",
                        "engine.memory_share", "engine.cache_gib", "engine.threads", "engine.sleep",
                        "engine.multi_process"})  # fmt: skip
"""Options that do not touch what a step computes, rounding aside; all others must stay as they were."""


@dataclass(frozen=True)
class Run:
    """A run that is about to start or go on."""

    folder: Path
    config: TrainConfig
    checkpoint: Checkpoint | None

    @property
    def first_step(self) -> int:
        return 0 if self.checkpoint is None else self.checkpoint.step


def complete(config: TrainConfig) -> TrainConfig:
    """Fill in the defaults that follow from other options, and check those that can be checked without a model.

    Raises:
        ValueError: an unknown method or option of it, or numbers that do not fit together.
    """
    m = answers_per_rollout(config)
    check_method(config.method, parse_pairs(config.method_args, "--method-args"), m, config.answers_per_prompt)
    check_prompt_alpha(config.method, config.prompt_alpha)
    for name in ("prompts", "epochs", "checkpoint_every", "keep_checkpoints", "prompt_tokens", "steps", "threads",
                 "evaluate_every", "evaluate_problems", "samples_every", "samples_prompts"):  # fmt: skip
        if (value := getattr(config, name)) is not None and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, not {value}")
    if config.seed < 0:
        raise ValueError(f"--seed must be at least 0, not {config.seed}")
    check_sampling(config)
    check_engine(config.engine)
    check_backend(config)
    check_learner(config.learner)
    check_dtype(config.dtype, config.learner)
    check_lora(config.lora, config.learner)
    check_trackers(config.trackers)
    if config.final_evaluation or config.evaluate_every is not None:
        check_evaluation(config.evaluation, m)
    return replace(config, num_answers=m)


def answers_per_rollout(config: TrainConfig) -> int:
    """m: what the configuration says, else 1 for methods of single answers and 3 for the others."""
    if config.num_answers is not None:
        return config.num_answers
    return 1 if config.method in ONE_ANSWER else SET_SIZE


def refuse_changes(config: TrainConfig) -> None:
    """Raise ValueError if `config` differs from the run that it resumes in an option that must not change.

    All such options are named, with both values. None stands for a default that is filled in later.
    """
    assert config.resume is not None
    if changed := differences(load_config(Path(config.resume)), config):
        raise ValueError(f"{config.resume} cannot be resumed with another configuration: " + "; ".join(changed))


def differences(saved: TrainConfig, config: TrainConfig, also: Collection[str] = ()) -> list[str]:
    """`option: old -> new` for the options that must not change between two configurations of one run.

    Args:
        saved, config: the old and the new one.
        also: options of `MAY_CHANGE` that must not change either.
    """
    free = MAY_CHANGE - set(also)
    return [
        f"{key}: {old!r} -> {new!r}"
        for key, old, new in _differences(asdict(saved), asdict(config))
        if not {key, key.partition(".")[0]} & free and not (key == "num_answers" and new is None)
    ]


def open_run(config: TrainConfig) -> Run:
    """Make the folder of a new run, or open the one named by `config.resume`.

    Raises:
        ValueError: the folder to resume holds no run or no checkpoint, or has more steps than asked for.
    """
    if config.resume is None:
        name = config.name or "-".join(
            [config.env.rpartition("/")[2], config.method, f"seed{config.seed}", time.strftime("%Y%m%d-%H%M%S")]
        )
        folder = Path(config.output) / name
        number = 2
        while config.name is None and folder.exists():  # another run started in the same second
            folder = Path(config.output) / f"{name}-{number}"
            number += 1
        if latest_checkpoint(folder / "checkpoints") is not None:
            raise ValueError(f"{folder} is a run already: go on with --resume {folder}, or choose another --name")
        folder.mkdir(parents=True, exist_ok=True)
        save_config(config, folder)
        return Run(folder, config, None)
    folder = Path(config.resume)
    saved = load_config(folder)
    checkpoint = latest_checkpoint(folder / "checkpoints")
    if checkpoint is None:
        raise ValueError(f"{folder} has no checkpoint yet; start the run again under another --name")
    if config.steps is not None and config.steps < checkpoint.step:
        raise ValueError(f"{folder} has {checkpoint.step} steps already; --steps {config.steps} is less")
    if config.steps is not None and config.steps != saved.steps:
        save_config(replace(config, resume=None), folder)
    return Run(folder, config, checkpoint)


def save_config(config: TrainConfig, folder: Path) -> None:
    """Write `config.json`, which is whole or as it was. Raises Fault where it cannot be written."""
    partial = folder / "config.json.part"
    with writing("the configuration", folder):
        try:
            partial.write_text(json.dumps(asdict(config), indent=2) + "\n")
            partial.replace(folder / "config.json")
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def load_config(folder: Path) -> TrainConfig:
    """The configuration of a run.

    Raises:
        ValueError: the folder holds no run, or a `config.json` that is not one of ours.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder} is not a run (no config.json)")
    try:
        return _from_dict(TrainConfig, json.loads(path.read_text()))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a training configuration: {error}") from error


def _from_dict(cls: type[T], data: dict[str, Any]) -> T:
    hints = typing.get_type_hints(cls)
    known = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    if unknown := sorted(set(data) - known):
        raise ValueError(f"unknown option(s) {', '.join(unknown)}")
    values: dict[str, Any] = {}
    for name, value in data.items():
        if is_dataclass(hints[name]) and isinstance(value, dict):
            values[name] = _from_dict(hints[name], value)
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    return cls(**values)


def _differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    for key in old:
        if isinstance(old[key], dict):
            found += _differences(old[key], new[key], f"{prefix}{key}.")
        elif old[key] != new[key]:
            found.append((prefix + key, old[key], new[key]))
    return found


__all__ = [
    "Run",
    "answers_per_rollout",
    "complete",
    "differences",
    "load_config",
    "open_run",
    "refuse_changes",
    "save_config",
]
