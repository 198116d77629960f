"""Compare classical multi-objective algorithms, and language models, on one environment.

    python agents/benchmark.py --study maze
    python agents/benchmark.py --env-args size=5 slack=4 maze=3 --algos pcn,pql,random --steps 20000
    python agents/benchmark.py --env-args size=5 slack=4 --algos pcn,sb3-ppo,llm:runs/<name> --name mine

All train for the same number of environment steps. What their policies earn is saved as soon as it is there, and the
same command goes on. RESULTS/ENVIRONMENT/NAME gets `table.md`, `benchmark.json`, `per_problem.csv` and `front.png`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from agents.benchmarking.config import (
    BenchmarkConfig,
    algorithm_names,
    algorithm_options,
    arena_of,
    benchmark_defaults,
    check_config,
)
from agents.benchmarking.contract import Algorithm, Unsuitable
from agents.benchmarking.environments import Arena
from agents.benchmarking.registry import LLM, check_names, load_algorithm
from agents.benchmarking.report import BenchmarkResult, standing_notes
from agents.benchmarking.results import Outcome, load_outcome, outcome_path, save_outcome
from agents.benchmarking.runner import full_options, run_algorithm

PACKAGES = ("vpo-envs", "numpy", "gymnasium", "mo-gymnasium", "moocore", "morl-baselines", "stable-baselines3", "torch")
MADE_WITH = ("env", "env_args", "problem", "steps", "num_solutions", "gamma", "eval_problems", "eval_episodes")
"""The options that change what an algorithm with a seed comes to."""


def benchmark(config: BenchmarkConfig, algorithms: Mapping[str, Algorithm] | None = None) -> BenchmarkResult:
    """Run what is left of a benchmark, and write its results.

    Args:
        config: what to compare on what.
        algorithms: your own, by the name that `config.algos` calls them.

    Raises:
        ValueError: options that do not fit together, a package that is not installed, or earlier results of this name
            that were made with other options, all of these before anything runs; or no algorithm comes to a result.
    """
    own = dict(algorithms or {})
    check_config(config)
    arena, names, given = arena_of(config), algorithm_names(config), algorithm_options(config)
    check_names(names, own)
    loaded = {name: None if name.startswith(LLM) and name not in own else load_algorithm(name, own) for name in names}
    options = {name: _options(name, loaded[name], given[name]) for name in names}
    place = Path(config.env.rpartition("/")[2]) / (config.name or config.study or "benchmark")
    runs = Path(config.output) / place
    made_with = {name: _made_with(config, arena, options[name]) for name in names}
    found = {(n, s): load_outcome(runs, n, s, made_with[n]) for s in config.seeds for n in names}
    folder = Path(config.results) / place
    for needed, option in ((runs, "--output"), (folder, "--results")):
        _make_folder(needed, option)
    notes = standing_notes(arena, names)
    unsuitable: set[str] = set()
    for number, (name, seed) in enumerate(found, start=1):
        if found[name, seed] is not None or name in unsuitable:
            continue
        try:
            outcome = _run(name, loaded[name], seed, config, arena, options[name])
        except Unsuitable as reason:
            unsuitable.add(name)
            said = notes[name] = f"cannot run here: {reason}"
        except Exception as error:  # whatever it is, the others go on
            first = (str(error) or type(error).__name__).splitlines()[0]
            said = notes[name] = f"failed with seed {seed}: {type(error).__name__}: {first}"
            log = outcome_path(runs, name, seed).with_suffix(".error.txt")
            log.write_text(traceback.format_exc())
            said += f" ({log})"
        else:
            found[name, seed] = outcome
            save_outcome(outcome, made_with[name], runs)
            outcome_path(runs, name, seed).with_suffix(".error.txt").unlink(missing_ok=True)
            said = f"{outcome.seconds:.0f} s of CPU"
        print(f"[{number}/{len(found)}] {name}, seed {seed}: {said}", file=sys.stderr, flush=True)
    complete = {name: [o for s in config.seeds if (o := found[name, s]) is not None] for name in names}
    if not any(complete.values()):
        reasons = "; ".join(f"{name} {note}" for name, note in notes.items() if name in names)
        raise ValueError(f"no algorithm came to a result, so none was written: {reasons}")
    result = BenchmarkResult(config, arena, {n: o for n, o in complete.items() if o}, notes, _versions())
    result.write(folder)
    from agents.benchmarking.plots import plot_fronts

    plot_fronts(result, folder / "front.png")
    return result


def _make_folder(folder: Path, option: str) -> None:
    """Raises ValueError if the folder cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{option}: {folder} cannot be made ({error.strerror}); choose another folder") from error


def _run(
    name: str, algorithm: Algorithm | None, seed: int, config: BenchmarkConfig, arena: Arena, options: Mapping[str, Any]
) -> Outcome:
    """One algorithm, or language model, with one seed."""
    if algorithm is not None:
        return run_algorithm(name, algorithm, seed, config, arena, options)
    from agents.benchmarking.language_models import run_language_model

    return run_language_model(name, seed, config, arena, options)


def _options(name: str, algorithm: Algorithm | None, given: Mapping[str, Any]) -> dict[str, Any]:
    if algorithm is not None:
        return full_options(algorithm, name, given)
    from agents.benchmarking.language_models import LanguageModelOptions

    return full_options(LanguageModelOptions, name, given)


def _made_with(config: BenchmarkConfig, arena: Arena, options: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: getattr(config, name) for name in MADE_WITH}
    return facts | {"problem": arena.problem, "options": dict(options)}


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # not installed, or only on the path
            found[name] = version(name)
    return found


def command(config: BenchmarkConfig) -> None:
    """What the command line does.

    Raises:
        ValueError: as `benchmark`.
    """
    result = benchmark(config)
    print(result.document)


def main() -> None:
    """The command line."""
    import tyro

    from agents.cli import run_cli

    run_cli(lambda: command(tyro.cli(BenchmarkConfig, default=benchmark_defaults(sys.argv[1:]), description=__doc__)))


if __name__ == "__main__":
    main()
