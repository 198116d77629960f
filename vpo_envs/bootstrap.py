"""Confidence intervals of a mean over prompts, by the percentile bootstrap (Efron & Tibshirani 1993, ch. 13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_CHUNK = 1 << 22  # prompts resampled at once, so that memory stays bounded


def bootstrap_interval(
    values: ArrayLike, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Interval for the mean of per-prompt values (P,), resampling prompts.

    Args:
        values: (P,), one finite number per prompt, P >= 1.
        confidence: in (0, 1).
        resamples: at least 1.
        seed: the same seed gives the same interval.

    Returns:
        (low, high); both equal the value for a single prompt.

    Raises:
        ValueError: an argument outside these ranges, or a value that is not finite.
    """
    x = np.asarray(values, np.float64)
    if x.ndim != 1 or not len(x):
        raise ValueError(f"values must have shape (P,) with P >= 1, not {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError(f"value {int(np.flatnonzero(~np.isfinite(x))[0])} is {x[~np.isfinite(x)][0]}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence!r}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples!r}")
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    rows = max(1, _CHUNK // len(x))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        means[start : start + count] = x[rng.integers(len(x), size=(count, len(x)))].mean(axis=1)
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


def paired_bootstrap_interval(
    a: ArrayLike, b: ArrayLike, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Interval for mean(a - b), both (P,) over the same prompts: prompts that are hard for both cancel.

    Raises:
        ValueError: as `bootstrap_interval`, or different numbers of prompts.
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape:
        raise ValueError(f"paired values need the same prompts: {x.shape} against {y.shape}")
    return bootstrap_interval(x - y, confidence, resamples, seed)
