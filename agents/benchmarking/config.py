"""The options of a benchmark, and the benchmarks of docs/benchmarking.md by name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agents.benchmarking.environments import Arena
from agents.config import parse_pairs


@dataclass
class BenchmarkConfig:
    """Train several algorithms with several seeds on one environment, and compare what their policies earn."""

    study: str | None = None
    """A benchmark of docs/benchmarking.md whose options are the defaults of all others (`STUDIES`)."""
    env: str = "vpo/MazeGrid-v0"
    """Environment id: vpo/MazeGrid-v0, vpo/TokenActions-v0 or vpo/CandidateAnswers-v0."""
    env_args: tuple[str, ...] = ("size=5", "slack=4")
    """Arguments of the environment, as name=value; maze=3 means --problem 3."""
    problem: int | None = None
    """Train and judge on this problem of the training split; default: train on all of them, and judge on the first
    `eval_problems` of the test split."""
    algos: tuple[str, ...] = ("random", "pcn", "sb3-dqn")
    """Algorithms, with spaces or commas between them: pcn, envelope, gpi-ls, pql, mpmoq, lcn, eupg, morld, ipro,
    nlmoppo, sb3-ppo, sb3-dqn, random, random-search, and llm:FOLDER for a language model (a run's folder, a model, or
    llm:builtin)."""
    algo_args: tuple[str, ...] = ()
    """Options of algorithms, as ALGORITHM.name=value; the DEFAULTS of its file show them."""
    steps: int = 20_000
    """Environment steps of every training."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Training seeds of every algorithm; seed 0 of all comes before seed 1 of any."""
    num_solutions: int = 30
    """Most policies in the set of an algorithm, and answers of a language model."""
    gamma: float = 1.0
    """Discount in training, in (0, 1]. What policies earn is never discounted."""
    eval_problems: int = 20
    """Problems of the test split that policies are judged on."""
    eval_episodes: int = 10
    """Episodes of a policy on a problem, whose mean counts; one where nothing is random."""
    weights: int = 256
    """Weightings in EUM."""
    threads: int = 1
    """CPU threads of torch."""
    name: str | None = None
    """Name of the benchmark; default that of the study, else "benchmark"."""
    output: str = "runs/benchmarks"
    """Folder of all runs; those of this benchmark lie in OUTPUT/ENVIRONMENT/NAME."""
    results: str = "results"
    """Folder of all results; those of this benchmark go to RESULTS/ENVIRONMENT/NAME."""


@dataclass(frozen=True)
class Study:
    """A benchmark of docs/benchmarking.md."""

    question: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that differ from the defaults of `BenchmarkConfig`."""


_NETWORKS = ("random", "pcn", "lcn", "envelope", "gpi-ls", "morld", "ipro", "nlmoppo", "eupg", "sb3-ppo", "sb3-dqn")
_ONE_MAZE = ("random-search", "pql", "mpmoq")
_SMALL_MAZE = ("size=5", "slack=4")

STUDIES: dict[str, Study] = {
    "maze": Study(
        "What do algorithms find in one fixed maze?",
        {"env_args": _SMALL_MAZE, "problem": 0, "algos": (*_NETWORKS, *_ONE_MAZE), "steps": 20_000, "seeds": (0, 1)},
    ),
    "maze-long": Study(
        "What do the fast ones find there in ten times as many steps?",
        {
            "env_args": _SMALL_MAZE,
            "problem": 0,
            "algos": ("pcn", "pql", "sb3-ppo", "random-search"),
            "steps": 200_000,
            "seeds": (0,),
        },
    ),
    "mazes": Study(
        "Do policies carry over to mazes that they were not trained on?",
        {"env_args": _SMALL_MAZE, "algos": (*_NETWORKS, "llm:builtin"), "steps": 20_000, "seeds": (0, 1)},
    ),
    "tokens": Study(
        "The same maze, with its prompt and route as tokens.",
        {
            "env": "vpo/TokenActions-v0",
            "env_args": (
                "env_id=vpo/Maze-v0",
                *_SMALL_MAZE,
                "vocabulary=['UP ', 'DOWN ', 'LEFT ', 'RIGHT ']",
                "length=14",
            ),
            "problem": 0,
            "algos": (*_NETWORKS, "random-search"),
            "steps": 5_000,
            "seeds": (0,),
        },
    ),
    "candidates": Study(
        "Which of eight candidate tool calls is the best under which weights?",
        {
            "env": "vpo/CandidateAnswers-v0",
            "env_args": ("env_id=vpo/ToolRL-v0", "num_problems=300"),
            "algos": _NETWORKS,
            "steps": 6_000,
            "seeds": (0,),
            "eval_episodes": 4,
        },
    ),
}


def benchmark_defaults(words: Sequence[str]) -> BenchmarkConfig:
    """The defaults of a command line: those of the study that it names.

    Raises:
        ValueError: there is no such study.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--study")
    return study_config(parser.parse_known_args(words)[0].study)


def study_config(name: str | None) -> BenchmarkConfig:
    """The options of a study; those of `BenchmarkConfig` without one. Raises ValueError for an unknown name."""
    if name in (None, "None"):
        return BenchmarkConfig()
    if name not in STUDIES:
        raise ValueError(f"--study {name}: there are {', '.join(STUDIES)}")
    return replace(BenchmarkConfig(), study=name, **STUDIES[str(name)].options)


def arena_of(config: BenchmarkConfig) -> Arena:
    """The environment that a configuration names.

    Raises:
        ValueError: it names none, or its arguments are refused.
    """
    arguments = parse_pairs(config.env_args, "--env-args")
    problem = config.problem
    if config.env == "vpo/MazeGrid-v0" and "maze" in arguments:
        maze = arguments.pop("maze")
        if problem not in (None, maze):
            raise ValueError(f"--problem {problem} and maze={maze} in --env-args differ; give one of them")
        if isinstance(maze, bool) or not isinstance(maze, int):
            raise ValueError(f"--env-args: maze must be the number of a maze, not {maze!r}")
        problem = maze
    return Arena(config.env, arguments, problem, config.eval_problems)


def algorithm_names(config: BenchmarkConfig) -> list[str]:
    """The algorithms in order. Raises ValueError for none, or for one that is named twice."""
    names = [name for word in config.algos for name in word.split(",") if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names or twice:
        raise ValueError(f"--algos: {f'{twice[0]} is named twice' if twice else 'name at least one algorithm'}")
    return names


def algorithm_options(config: BenchmarkConfig) -> dict[str, dict[str, Any]]:
    """The options of each algorithm from `algo_args`.

    Raises:
        ValueError: a word that is not ALGORITHM.name=value, or an algorithm that takes no part.
    """
    options: dict[str, dict[str, Any]] = {name: {} for name in algorithm_names(config)}
    for word in config.algo_args:
        left, equals, value = word.partition("=")
        algorithm, _, name = left.rpartition(".")
        if not equals or algorithm not in options:
            raise ValueError(f"--algo-args takes ALGORITHM.name=value of an algorithm in --algos, not {word!r}")
        options[algorithm] |= parse_pairs([f"{name}={value}"], "--algo-args")
    return options


PLACES = ("output", "results", "threads")
"""Options that do not change what a study comes to."""


def check_config(config: BenchmarkConfig) -> None:
    """Raises ValueError for numbers outside their ranges, and for names that are no folder's."""
    for name in ("steps", "num_solutions", "eval_episodes", "weights", "threads"):
        if getattr(config, name) < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, not {getattr(config, name)}")
    if not 0.0 < config.gamma <= 1.0:
        raise ValueError(f"--gamma must be above 0 and at most 1, not {config.gamma}")
    if not config.seeds or len(set(config.seeds)) < len(config.seeds) or min(config.seeds) < 0:
        raise ValueError(f"--seeds must be different numbers of at least 0, not {config.seeds}")
    if config.name is not None and (config.name in ("", ".", "..") or "/" in config.name):
        raise ValueError(f"--name must be the name of a folder, not {config.name!r}")
    if config.study is not None and config.name is None:
        plain = study_config(config.study)
        changed = [
            f.name for f in fields(config) if f.name not in PLACES and getattr(config, f.name) != getattr(plain, f.name)
        ]
        if changed:
            raise ValueError(
                f"--study {config.study} with another --{changed[0].replace('_', '-')} is a benchmark of its own: give "
                "it a --name, so that it does not take the study's place"
            )
