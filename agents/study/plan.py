"""The runs of a comparison in their order: where each one lies, what is done of it, and whether it may go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from agents.config import EvaluationConfig, TrainConfig
from agents.evaluation import PolicyResult
from agents.files import write_whole
from agents.plots import read_records
from agents.presets import evaluation_top_p
from agents.runs.checkpoint import latest_checkpoint
from agents.runs.run import differences, load_config
from agents.study.config import CompareConfig
from agents.study.methods import Method, answers_of, evaluation_config, parse_methods, training_config
from agents.study.saved_results import load_result, save_result


@dataclass(frozen=True)
class PlannedRun:
    """A method with one seed; the warm start has none."""

    method: Method
    seed: int | None
    round: int
    """The place of the seed among all, 0 for a run without one: rounds are complete comparisons."""
    config: TrainConfig
    """Of the training run; its folder is `output`/`name`."""
    evaluation: EvaluationConfig
    num_answers: int
    """m."""

    @property
    def title(self) -> str:
        return self.method.label if self.seed is None else f"{self.method.label}, seed {self.seed}"

    @property
    def folder(self) -> Path:
        return Path(self.config.output) / str(self.config.name)

    @property
    def model(self) -> str:
        """What is evaluated: the folder of the final model, or the model before training."""
        return str(self.folder / "final") if self.method.trains else self.config.model

    @property
    def trained(self) -> bool:
        """Whether there is nothing left to train: the mark is written when training has returned."""
        return not self.method.trains or (self.folder / "trained.json").is_file()

    @property
    def evaluated(self) -> bool:
        return self._result_path.is_file()

    @cached_property
    def result(self) -> PolicyResult:
        """The saved evaluation, under the method's label."""
        return load_result(self._result_path)

    def mark_trained(self) -> None:
        write_whole(self.folder / "trained.json", json.dumps({"steps": self.config.steps}) + "\n")

    def save(self, result: PolicyResult) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        save_result(result, self._result_path)

    def forget_evaluation(self) -> None:
        self._result_path.unlink(missing_ok=True)
        self.__dict__.pop("result", None)

    @property
    def _result_path(self) -> Path:
        return self.folder / "pool.json"

    def next_config(self) -> TrainConfig:
        """What to train with now: the run goes on at its newest checkpoint, if there is one."""
        if latest_checkpoint(self.folder / "checkpoints") is None:
            return self.config
        return replace(self.config, name=None, resume=str(self.folder))

    def step_seconds(self) -> list[float]:
        """Seconds of every step that is done, from `metrics.jsonl`: generation, waiting for scores, learning."""
        path = self.folder / "metrics.jsonl"
        parts = ("time/generate", "time/score_wait", "time/learn")
        if not path.is_file():
            return []
        return [sum(record.get(part, 0.0) for part in parts) for record in read_records(path)]


def plan(config: CompareConfig) -> list[PlannedRun]:
    """All runs, those of the first seed of every method first, so that an interrupted comparison is a smaller one.

    Raises:
        ValueError: options that do not fit together.
    """
    methods = parse_methods(config.methods)
    _check(config, methods)
    folder = Path(config.output) / place_of(config, config.runs_of)
    runs: list[PlannedRun] = []
    for number, seed in enumerate(config.seeds):
        for method in methods:
            if not method.trains and number > 0:
                continue  # it has no seed
            name = f"{method.folder_name}-seed{seed}" if method.trains else method.folder_name
            run = replace(training_config(config, method, seed), output=str(folder), name=name)
            own_seed = seed if method.trains else None
            runs.append(
                PlannedRun(method, own_seed, number, run, evaluation_config(config, method), answers_of(config, method))
            )
    return runs


def place_of(config: CompareConfig, name: str | None = None) -> Path:
    """ENVIRONMENT/NAME, where results lie in their folder, and runs in theirs; NAME is by default the config's own."""
    return Path(config.env.rpartition("/")[2]) / str(name or config.name)


def _check(config: CompareConfig, methods: Sequence[Method]) -> None:
    if (config.method, config.method_args, config.seed, config.resume) != ("vpo", (), 0, None):
        raise ValueError("a comparison has --methods and --seeds, and goes on by itself: no method, seed or resume")
    for option, name in (("name", config.name), ("runs-of", config.runs_of or config.name)):
        if not name or "/" in name:
            raise ValueError(f"--{option} must be the name of a folder, not {name!r}")
    if not config.seeds or len(set(config.seeds)) < len(config.seeds) or min(config.seeds) < 0:
        raise ValueError(f"--seeds must be different numbers of at least 0, not {config.seeds}")
    if config.steps is None and any(method.trains for method in methods):
        raise ValueError("a comparison needs --steps, the same number for every method")
    labels = [method.label for method in methods]
    for option in ("baseline", "candidate"):
        value = getattr(config, option)
        if value is not None and value not in labels:
            raise ValueError(f"--{option} {value} is not the label of a method: {', '.join(labels)}")


def check_unchanged(runs: Sequence[PlannedRun], reevaluate: bool) -> None:
    """What is there already must have been made with the same options.

    Evaluations that were not are removed with `reevaluate`.

    Raises:
        ValueError: with every run and option that differs.
    """
    problems: list[str] = []
    outdated: list[PlannedRun] = []
    for run in runs:
        begun = run.trained or latest_checkpoint(run.folder / "checkpoints") is not None
        if run.method.trains and begun:
            changed = differences(load_config(run.folder), run.config, also=("steps",))
            if changed:
                problems.append(f"{run.title}: " + "; ".join(changed))
        if run.evaluated:
            changed = _evaluation_changes(run)
            if changed and not reevaluate:
                problems.append(f"evaluation of {run.title}: " + "; ".join(changed) + " (--reevaluate does it again)")
            elif changed:
                outdated.append(run)
    if problems:
        raise ValueError(
            "the configuration differs from that of runs that exist; choose another --name, or go back to theirs. "
            + " | ".join(problems)
        )
    for run in outdated:
        run.forget_evaluation()


def _evaluation_changes(run: PlannedRun) -> list[str]:
    saved, config = run.result, run.config
    wanted = asdict(run.evaluation)
    wanted["top_p"] = evaluation_top_p(config.env) if wanted["top_p"] is None else wanted["top_p"]
    old = asdict(saved.config) | {
        "env": saved.env, "env_args": saved.env_args, "num_answers": saved.num_answers, "max_tokens": saved.max_tokens
    }  # fmt: skip
    new = wanted | {
        "env": config.env, "env_args": config.env_args, "num_answers": run.num_answers,
        "max_tokens": config.sampling.max_tokens,
    }  # fmt: skip
    return [f"{name}: {old[name]!r} -> {new[name]!r}" for name in old if old[name] != new[name]]
