"""Compare methods on a text environment: train each with several seeds, evaluate all at equal budgets, write tables.

    python agents/compare.py --env vpo/Maze-v0 --preset laptop --dry-run
    python agents/compare.py --env vpo/Maze-v0 --preset laptop
    python agents/compare.py --methods warm_start grpo vpo vpo:num_weights=1 --seeds 0 1 --name weights --steps 100

Every method with every seed is a run as of train_vpo.py, in OUTPUT/ENVIRONMENT/NAME. The same command goes on where it
was stopped. All policies answer the same test problems with the same number of answers; RESULTS/ENVIRONMENT/NAME gets
`table.md`, `results.json`, `results.csv`, `per_prompt.jsonl` and pictures whenever a seed is complete.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
import tyro
from transformers.utils.logging import disable_progress_bar

from agents.cli import run_cli
from agents.config import parse_pairs
from agents.evaluation import PolicyResult, evaluate_policy, problems_for_all
from agents.generation import make_generator
from agents.policy import Policy, open_policy
from agents.processes.launcher import refuse_launcher
from agents.prompt_weights import written_weights
from agents.study.config import CompareConfig, compare_defaults
from agents.study.plan import PlannedRun, check_unchanged, place_of, plan
from agents.study.plots import plot_study
from agents.study.progress import describe, seconds_left
from agents.study.report import Report
from agents.study.study import Study
from agents.train_vpo import train

PACKAGES = ("vpo-envs", "torch", "transformers", "numpy", "gymnasium")


def compare(config: CompareConfig) -> Path:
    """Do what is left of a comparison; returns the folder of its results.

    Raises:
        ValueError: options that do not fit together, or that differ from those of runs that exist.
        SystemExit: after Ctrl-C (130) or SIGTERM (0) while training, with a checkpoint.
        Fault: see `train`.
    """
    if config.dry_run:
        raise ValueError("--dry-run runs nothing: call agents.study.progress.describe")
    runs = plan(config)
    check_unchanged(runs, config.reevaluate)
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    problems = _problems(config, runs)
    folder = Path(config.results) / place_of(config)
    new = not (folder / "results.json").is_file()  # whether the results on disk lack something
    for number, run in enumerate(runs, start=1):
        began = time.perf_counter()
        new |= not (run.trained and run.evaluated)
        if not run.trained:
            _train(run)
        if not run.evaluated:
            run.save(_evaluate(run, problems))
        _say(number, run, runs, time.perf_counter() - began)
        last = number == len(runs)
        if last or (new and runs[number].round != run.round):
            report(config, runs[:number], folder)
            new = False
    print((folder / "table.md").read_text())
    print(f"{folder}: table.md, results.json, results.csv, per_prompt.jsonl and pictures", file=sys.stderr)
    return folder


def report(config: CompareConfig, runs: Sequence[PlannedRun], folder: Path) -> None:
    """Write the results of runs that are all evaluated: every method with the same seeds."""
    labels = list(dict.fromkeys(run.method.label for run in runs))
    seeds = sorted({run.seed for run in runs if run.seed is not None}, key=config.seeds.index) or [config.seeds[0]]
    by_label = {label: [run for run in runs if run.method.label == label] for label in labels}
    by_label = {label: own if len(own) == len(seeds) else own * len(seeds) for label, own in by_label.items()}
    study = Study(seeds, {label: [run.result for run in own] for label, own in by_label.items()})
    training = {label: [_training_facts(run) for run in own] for label, own in by_label.items()}
    baseline, candidate = config.baseline, config.candidate
    baseline = "grpo" if baseline is None and "grpo" in labels else baseline
    candidate = "vpo" if candidate is None and "vpo" in labels else candidate
    facts = {
        "configuration": asdict(config),
        "methods_in_full": {
            label: {"method": own[0].method.name, "method_args": list(own[0].method.method_args),
                    "options": list(own[0].method.options)}
            for label, own in by_label.items()
        },
        "versions": _versions() | {"python": platform.python_version()},
        "machine": {"processors": os.cpu_count(), "threads": torch.get_num_threads(), "kind": platform.machine()},
    }  # fmt: skip
    written = Report(study, facts, training, baseline, candidate)
    written.write(folder)
    folders = {label: [run.folder for run in own] for label, own in by_label.items() if own[0].method.trains}
    plot_study(study, folders, folder)


def _train(run: PlannedRun) -> None:
    run.forget_evaluation()  # that of a policy which is no longer there
    try:
        train(run.next_config(), progress=sys.stderr.isatty())
    except SystemExit:
        print("repeat the command of the comparison to go on with it", file=sys.stderr)
        raise
    run.mark_trained()


def _training_facts(run: PlannedRun) -> dict[str, Any]:
    return {
        "own_options": [*run.method.method_args, *run.method.options],
        "training_seconds": sum(run.step_seconds()) if run.method.trains else None,
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # the repository may be on the path without being installed
            found[name] = version(name)
    return found


def _evaluate(run: PlannedRun, problems: Sequence[int] | None) -> PolicyResult:
    """Sample and score the answers of a run's policy."""
    config = run.config
    policy = _open(run.model, run)
    context = config.prompt_tokens + config.sampling.max_tokens
    made = make_generator(policy, config.backend, config.engine, config.sampling.rows, context)
    with closing(made) as generator:
        return evaluate_policy(
            policy,
            config.env,
            config.env_args,
            run.num_answers,
            run.evaluation,
            config.sampling.max_tokens,
            config.prompt_tokens,
            progress=sys.stderr.isatty(),
            label=run.method.label,
            problems=problems,
            generator=generator,
            method=run.method.name,
        )


def _problems(config: CompareConfig, runs: Sequence[PlannedRun]) -> list[int] | None:
    """The test problems that fit every policy: all have the tokenizer of the model before training."""
    if all(run.trained and run.evaluated for run in runs):
        return None
    asked: dict[int, tuple[Policy, int]] = {}
    policy = _open(config.model, runs[0])
    for run in runs:
        asked.setdefault(run.num_answers, (policy, run.num_answers))
    weights = any(written_weights(run.evaluation.prompt_weights, run.method.name) != "none" for run in runs)
    return problems_for_all(
        list(asked.values()),
        config.env,
        config.env_args,
        config.evaluation,
        config.sampling.max_tokens,
        config.prompt_tokens,
        weights,
    )


def _open(source: str, run: PlannedRun) -> Policy:
    config = run.config
    return open_policy(
        source,
        config.env,
        parse_pairs(config.env_args, "--env-args"),
        config.device,
        config.dtype,
        config.learner.param_dtype,
        config.learner.attention,
    )


def _say(number: int, run: PlannedRun, runs: Sequence[PlannedRun], seconds: float) -> None:
    """The line of a finished run."""
    best = float(run.result.best(run.result.config.answers).mean())
    left = [seconds_left(other, runs) for other in runs[number:]]
    known = [s for s in left if s is not None]
    rest = f", {sum(known) / 60:.0f} min left" if left and len(known) == len(left) else ""
    print(
        f"[{number}/{len(runs)}] {run.title}: best@{run.result.config.answers} {best:.3f}, {seconds:.0f} s{rest}",
        file=sys.stderr,
        flush=True,
    )


def command(config: CompareConfig) -> None:
    """What the command line does: compare, or say what would be done."""
    refuse_launcher(os.environ, "a comparison")
    if not sys.stderr.isatty():
        disable_progress_bar()  # else transformers draws one for every model that it loads or writes
    if config.dry_run:
        runs = plan(config)
        check_unchanged(runs, reevaluate=False)
        print(describe(runs))
    else:
        compare(config)


def main() -> None:
    """The command line."""
    run_cli(lambda: command(tyro.cli(CompareConfig, default=compare_defaults(sys.argv[1:]), description=__doc__)))


if __name__ == "__main__":
    main()
