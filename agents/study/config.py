"""The options of a comparison of methods, and the comparisons that presets stand for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import tyro

from agents.config import EvaluationConfig, LearnerConfig, SamplingConfig, TrainConfig
from agents.presets import command_line_defaults


@dataclass
class CompareConfig(TrainConfig):
    """Train several methods with several seeds on one environment, and evaluate them at equal budgets.

    The options of training and evaluation are those of train_vpo.py and hold for every method.
    """

    study: str = "main"
    """Which of the environment's studies (`STUDIES`) the defaults are those of."""
    methods: tuple[str, ...] = ("warm_start", "grpo", "vpo")
    """What is compared, each as [LABEL=]METHOD[:name=value,...]: vpo, vpo:num_weights=16, "sharp=vpo:alpha=0.3",
    grpo:learner.lr=3e-5. Names are the method's own arguments or training options that may differ (num_answers,
    prompt_alpha, learner.*, sampling.*, lora.*). warm_start is the model before training."""
    seeds: tuple[int, ...] = (0,)
    """Training seeds of every method; seed 0 of all methods comes before seed 1 of any."""
    baseline: str | None = None
    """Label of the method that ratios are to; default grpo where it takes part."""
    candidate: str | None = None
    """Label of the method whose differences to the others are shown; default vpo where it takes part."""
    runs_of: str | None = None
    """Name of the comparison in whose folder the runs lie; default its own. Comparisons that share a folder share the
    runs of the same label and seed, which must have the same options."""
    results: str = "results"
    """Folder of all results; those of this comparison go to RESULTS/ENVIRONMENT/NAME, its runs to
    OUTPUT/ENVIRONMENT/NAME."""
    reevaluate: bool = False
    """Evaluate runs again whose evaluation was made with other options, instead of refusing."""

    name: str | None = None
    """Name of the comparison; default that of the preset for the main study, else that of the study."""
    output: str = "runs"
    """Folder of all runs."""
    dry_run: bool = False
    """Print the runs, what is done of them and an estimate of the time that is left, and stop."""

    # One run's business, which a comparison decides for each of its runs.
    method: tyro.conf.Suppress[str] = "vpo"
    method_args: tyro.conf.Suppress[tuple[str, ...]] = ()
    seed: tyro.conf.Suppress[int] = 0
    epochs: tyro.conf.Suppress[int] = 1
    prompt_alpha: tyro.conf.Suppress[float] = 1.0
    resume: tyro.conf.Suppress[str | None] = None
    final_evaluation: tyro.conf.Suppress[bool] = False
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)


@dataclass(frozen=True)
class Study:
    """What a preset compares in an environment."""

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    changes: dict[str, Any] = field(default_factory=dict)
    """Options that differ from the training preset's."""


MAIN = "main"

# What all methods of the studies of Maze share; docs/results.md says how it was chosen.
_MAZE: dict[str, Any] = {
    "env_args": ("size=6", "slack=5", "num_problems=300"),
    "steps": 100,
    "checkpoint_every": 50,
    "keep_checkpoints": 1,
    "sampling": SamplingConfig(max_tokens=120),
    "learner": LearnerConfig(lr=3e-4, mini_batch=16, micro_batch=32),
    "evaluation": EvaluationConfig(first=200),
}
_SETS_BEFORE = "warm_start:num_answers=3"
_TRAINED = ("grpo", "multi_rlvr", "random_weight", "goal_conditioned", "gdpo", "maxrl", "max_at_k", "vpo")

STUDIES: dict[tuple[str, str], dict[str, Study]] = {
    ("laptop", "vpo/Maze-v0"): {
        MAIN: Study(
            methods=("warm_start", _SETS_BEFORE, *_TRAINED),
            seeds=(0, 1, 2),
            changes=_MAZE,
        ),
        # What the learning rate was chosen by: another seed, and mazes that the other studies do not evaluate on.
        "learning_rates": Study(
            methods=(
                "warm_start",
                _SETS_BEFORE,
                *(f"{method}:learner.lr={lr}" for lr in ("1e-4", "3e-4") for method in _TRAINED),
            ),
            seeds=(100,),
            changes=_MAZE
            | {
                "env_args": ("size=6", "slack=5", "num_problems=200"),
                "baseline": "grpo:learner.lr=3e-4",
                "candidate": "vpo:learner.lr=3e-4",
                "evaluation": EvaluationConfig(first=100),
            },
        ),
        # Twice the steps on a third of the mazes; the first version of the main study.
        "long": Study(
            methods=("warm_start", _SETS_BEFORE, "grpo", "multi_rlvr", "random_weight", "vpo"),
            seeds=(0, 1),
            changes=_MAZE
            | {"env_args": ("size=6", "slack=5", "num_problems=100"), "steps": 200, "evaluation": EvaluationConfig()},
        ),
        # The main study with the learning rate that is better for most methods on other mazes than they trained on.
        "low_rate": Study(
            methods=("warm_start", _SETS_BEFORE, *_TRAINED),
            seeds=(0, 1, 2),
            changes=_MAZE | {"learner": replace(_MAZE["learner"], lr=1e-4)},
        ),
        # Does the longest response of 120 tokens hold sets back?
        "long_responses": Study(
            methods=(_SETS_BEFORE, "vpo"),
            seeds=(0, 1, 2),
            changes=_MAZE | {"sampling": SamplingConfig(max_tokens=180)},
        ),
        # The paper's two: sets without random weights, and random weights without sets.
        "ablations": Study(
            methods=(_SETS_BEFORE, "grpo", "random_weight", "best_of_set", "vpo"),
            seeds=(0, 1, 2),
            changes=_MAZE | {"runs_of": "laptop"},
        ),
        "sweeps": Study(
            methods=(
                _SETS_BEFORE,
                "vpo",
                *(f"vpo:num_weights={k}" for k in (1, 4, 16)),
                *(f"vpo:alpha={a}" for a in (0.25, 4)),
                "vpo_shapley",
            ),
            seeds=(0,),
            changes=_MAZE | {"runs_of": "laptop"},
        ),
        # Sets of other sizes, from a policy that knows all of them; docs/results.md has the command that makes it.
        "set_sizes": Study(
            methods=(*(f"warm_start:num_answers={m}" for m in (1, 3)), *(f"vpo:num_answers={m}" for m in (1, 2, 3, 4))),
            seeds=(0,),
            changes=_MAZE
            | {
                "model": "runs/warm_start/Maze-v0-6x6-sets",
                "candidate": "vpo:num_answers=3",
                "sampling": SamplingConfig(max_tokens=240),
                "evaluation": EvaluationConfig(first=200, answers=36),
            },
        ),
    },
    # Another task at its preset's own settings, on test problems that those were not chosen on.
    ("laptop", "vpo/ToolRL-v0"): {
        MAIN: Study(
            methods=("warm_start", _SETS_BEFORE, "grpo", "multi_rlvr", "max_at_k", "vpo"),
            seeds=(0,),
            changes={
                "steps": 80,
                "checkpoint_every": 40,
                "keep_checkpoints": 1,
                "evaluation": EvaluationConfig(first=100),
            },
        ),
    },
}
"""(preset, environment) -> name -> study. What is not in `changes` is that of `agents/presets.py`."""


def compare_defaults(arguments: Sequence[str]) -> CompareConfig:
    """What a command line starts from: its preset's training options, and the study of its environment if there is one.

    Raises:
        ValueError: an unknown preset or study, or --resume, which a comparison does by itself.
    """
    if any(word.partition("=")[0] == "--resume" for word in arguments):
        raise ValueError("a comparison goes on where it stopped by itself: repeat the command without --resume")
    peek = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    peek.add_argument("--study", default=MAIN)
    known, _ = peek.parse_known_args(list(arguments))
    return study_defaults(command_line_defaults(arguments), known.study)


def study_defaults(training: TrainConfig, name: str = MAIN) -> CompareConfig:
    """A comparison with these training options, those of a study changed as it says.

    Raises:
        ValueError: the environment has no study of this name.
    """
    options = {f.name: getattr(training, f.name) for f in fields(TrainConfig)} | {"final_evaluation": False}
    env = training.env.rpartition(":")[2]
    studies = STUDIES.get((training.preset, env), {})
    if name not in studies and name != MAIN:
        have = ", ".join(studies) or "none"
        raise ValueError(f"--study {name}: {env} has no such study with --preset {training.preset} (there are: {have})")
    config = CompareConfig(**options | {"name": training.preset if name == MAIN else name, "study": name})
    if name not in studies:
        return config
    study = studies[name]
    return replace(config, methods=study.methods, seeds=study.seeds, **study.changes)
