"""Quick training runs of an untrained policy that several tests start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agents.config import LearnerConfig, SamplingConfig, TrainConfig


def tiny_run(policy_folder: Path, output: Path, **changes: Any) -> TrainConfig:
    """Four quick steps on small mazes, with a checkpoint after each."""
    options: dict[str, Any] = {
        "env_args": ("size=5", "slack=4", "num_problems=50"),
        "model": str(policy_folder),
        "preset": "laptop",
        "steps": 4,
        "prompts": 3,
        "answers_per_prompt": 6,
        "prompt_tokens": 256,
        "output": str(output),
        "name": "run",
        "checkpoint_every": 1,
        "final_evaluation": False,
        "trackers": (),
        "sampling": SamplingConfig(max_tokens=24),
        "learner": LearnerConfig(lr=1e-3, mini_batch=2, micro_batch=4),
    }
    return TrainConfig(**{**options, **changes})


def metrics_of(folder: Path, without: str = "time/") -> list[dict[str, float]]:
    """The lines of `metrics.jsonl` without timings, which no two runs share."""
    return [
        {name: value for name, value in line.items() if not name.startswith((without, "time/"))}
        for line in lines_of(folder / "metrics.jsonl")
    ]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def checkpoints_of(folder: Path) -> list[str]:
    """Everything in the folder of checkpoints, hidden leftovers included."""
    return sorted(path.name for path in (folder / "checkpoints").iterdir())
