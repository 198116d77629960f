"""A policy's pool of answers as a JSON file, and back without loss: evaluations are made once and compared often."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from agents.config import EvaluationConfig
from agents.evaluation import PolicyResult
from agents.files import write_whole

DTYPES = {
    "reference_weights": np.float64,
    "floor": np.float32,
    "rewards": np.float32,
    "answered": np.bool_,
    "objective_mask": np.bool_,
    "tokens": np.int64,
    "finished": np.bool_,
    "asked_weights": np.float64,
}
"""The fields of `PolicyResult` that are arrays; its fronts are a list of float32 arrays."""


def save_result(result: PolicyResult, path: Path) -> None:
    """Write a result; the file appears whole or not at all.

    Raises:
        Fault: it could not be written.
    """
    data: dict[str, Any] = {f.name: getattr(result, f.name) for f in fields(result)}
    for name in DTYPES:
        data[name] = None if data[name] is None else data[name].tolist()
    data["fronts"] = None if result.fronts is None else [front.tolist() for front in result.fronts]
    data["config"] = asdict(result.config)
    write_whole(path, json.dumps(data) + "\n")


def load_result(path: Path) -> PolicyResult:
    """Read what `save_result` wrote.

    Raises:
        ValueError: the file holds no such result.
    """
    try:
        data = json.loads(path.read_text())
        for name, dtype in DTYPES.items():
            data[name] = None if data[name] is None else np.array(data[name], dtype)
        if data["fronts"] is not None:
            k = len(data["floor"])
            data["fronts"] = [np.array(front, np.float32).reshape(-1, k) for front in data["fronts"]]
        config = data["config"] | {"ks": tuple(data["config"]["ks"])}
        return PolicyResult(**data | {"config": EvaluationConfig(**config), "env_args": tuple(data["env_args"])})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is not an evaluation ({error}); remove it to evaluate again") from error
