"""What the tests of the evaluation share: pools made at random, and a policy too small to know anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.builtin import build_model, build_tokenizer
from agents.config import EvaluationConfig
from agents.evaluation import PolicyResult
from vpo_envs.maze import MazeTask

MAZE = ("size=5", "slack=4")


def random_result(
    label: str = "one", p: int = 5, n: int = 3, m: int = 2, k: int = 3, seed: int = 0, **changes: Any
) -> PolicyResult:
    """A pool of random rewards on a coarse grid, so that ties happen; a fifth of the answers is absent."""
    rng = np.random.default_rng(seed)
    answered = rng.random((p, n, m)) < 0.8
    rewards = (rng.integers(0, 5, (p, n, m, k)) / 4 * answered[..., None]).astype(np.float32)
    weights = np.arange(1, k + 1, dtype=np.float64)
    fields: dict[str, Any] = {
        "label": label,
        "model": f"models/{label}",
        "env": "vpo/Maze-v0",
        "env_args": MAZE,
        "config": EvaluationConfig(problems=p, answers=n * m, ks=(1, 2, 50), weights=7, seed=3),
        "max_tokens": 30,
        "objectives": [f"objective {i}" for i in range(k)],
        "reference_weights": weights / weights.sum(),
        "floor": np.zeros(k, np.float32),
        "problems": list(range(p)),
        "rewards": rewards,
        "answered": answered,
        "objective_mask": None,
        "answers": [[[f"UP {i}" if a else None for i, a in enumerate(row)] for row in rows] for rows in answered],
        "tokens": rng.integers(5, 30, (p, n)),
        "finished": rng.random((p, n)) < 0.9,
        "seconds": 1.5,
        "fronts": None,
        "bounded_by_one": True,
    }
    return PolicyResult(**fields | changes)


def save_tiny_policy(folder: Path, seed: int = 0, context: int = 384) -> Path:
    """An untrained policy for 5x5 mazes, as a folder."""
    task = MazeTask(size=5, slack=4, num_problems=10**6)
    tokenizer = build_tokenizer(task, samples=40, vocab_size=512)
    torch.manual_seed(seed)
    model = build_model(tokenizer, layers=1, width=16, heads=2, context=context)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
