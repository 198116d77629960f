"""What one algorithm with one seed came to, as a file: written as soon as it is there, so that a benchmark goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from agents.files import write_whole


@dataclass(frozen=True, eq=False)
class Outcome:
    """The returns of a set of policies."""

    algorithm: str
    seed: int
    vectors: NDArray[np.float64]
    """(P, n, k)."""
    steps: int | None
    """Environment steps that training really took; None for a language model."""
    seconds: float
    """CPU seconds of training, or of sampling."""
    options: Mapping[str, Any]
    """The algorithm's own."""


def outcome_path(folder: Path, algorithm: str, seed: int) -> Path:
    """Where an outcome lies; signs that no file name should have are quoted as in an address."""
    return folder / f"{quote(algorithm, safe='')}-seed{seed}.json"


def save_outcome(outcome: Outcome, made_with: Mapping[str, Any], folder: Path) -> None:
    """Write an outcome and what it was made with; the file appears whole or not at all.

    Raises:
        Fault: it could not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = asdict(outcome) | {"vectors": outcome.vectors.tolist(), "made_with": dict(made_with)}
    write_whole(outcome_path(folder, outcome.algorithm, outcome.seed), json.dumps(data, default=str) + "\n")


def load_outcome(folder: Path, algorithm: str, seed: int, made_with: Mapping[str, Any]) -> Outcome | None:
    """The outcome of an earlier call, None if there is none.

    Raises:
        ValueError: a file that is none, or one that was made with something else (each difference is named).
    """
    path = outcome_path(folder, algorithm, seed)
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_text())
        saved = data.pop("made_with")
        found = Outcome(**data | {"vectors": np.array(data["vectors"], np.float64)})
        _check(found, saved, algorithm, seed)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is no result of a benchmark ({error}); remove it to run this again") from error
    wanted = json.loads(json.dumps(dict(made_with), default=str))
    changed = [f"{k}: {saved.get(k)!r} -> {wanted.get(k)!r}" for k in wanted if saved.get(k) != wanted[k]]
    if changed:
        raise ValueError(
            f"{path} was made with other options ({'; '.join(changed)}); choose another --name, or remove the file"
        )
    return found


def _check(found: Outcome, saved: Any, algorithm: str, seed: int) -> None:
    """Raises ValueError unless a file holds what `save_outcome` writes for this algorithm and seed."""
    if (found.algorithm, found.seed) != (algorithm, seed):
        raise ValueError(f"it is that of {found.algorithm} with seed {found.seed}")
    if found.vectors.ndim != 3 or not found.vectors.size or not np.isfinite(found.vectors).all():
        raise ValueError("its vectors are not finite numbers (P, n, k)")
    numbers = [found.seconds] if found.steps is None else [found.steps, found.seconds]
    if not all(isinstance(x, (int, float)) for x in numbers):
        raise ValueError("its steps or seconds are not numbers")
    if not isinstance(saved, dict) or not isinstance(found.options, dict):
        raise ValueError("it does not say what it was made with")
