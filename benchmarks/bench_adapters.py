"""Speed of the adapters for classical algorithms: steps per second under random actions, on one core."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from timing import rate

import vpo_envs  # noqa: F401

STEPS = 5000
ADAPTERS: dict[str, dict[str, Any]] = {
    "TokenActions, Maze, 4 moves": {
        "id": "vpo/TokenActions-v0",
        "vocabulary": ["UP ", "DOWN ", "LEFT ", "RIGHT "],
        "length": 30,
    },
    "TokenActions, ToolRL, derived": {"id": "vpo/TokenActions-v0", "env_id": "vpo/ToolRL-v0"},
    "CandidateAnswers, Maze": {"id": "vpo/CandidateAnswers-v0"},
    "CandidateAnswers, ToolRL": {"id": "vpo/CandidateAnswers-v0", "env_id": "vpo/ToolRL-v0"},
}


def measure(seconds: float) -> dict[str, float]:
    """Steps per second, resets included. The candidates of all problems are made before the clock starts."""
    figures: dict[str, float] = {}
    for name, arguments in ADAPTERS.items():
        env: gym.Env[Any, Any] = gym.make(**arguments, num_problems=50)
        for problem in range(50):
            env.reset(seed=0, options={"problem": problem})
        actions = env.action_space.n  # type: ignore[attr-defined]
        moves = np.random.default_rng(0).integers(0, actions, STEPS).tolist()
        figures[f"{name} steps/s"] = rate(lambda env=env, moves=moves: _walk(env, moves), STEPS, seconds)  # type: ignore[misc]
    return figures


def _walk(env: gym.Env[Any, Any], moves: list[int]) -> None:
    env.reset(seed=0)
    for move in moves:
        if env.step(move)[2]:
            env.reset()


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of TokenActions and CandidateAnswers on one core.")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    figures = measure(options.seconds)
    for name, value in figures.items():
        print(f"{name:38s} {value:12,.0f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
