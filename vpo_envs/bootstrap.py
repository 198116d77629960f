"""Confidence intervals of a mean over prompts, by the percentile bootstrap (Efron & Tibshirani 1993, ch. 13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    return percentile_interval(means, confidence)


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


def crossed_bootstrap_means(values: ArrayLike, resamples: int = 2000, seed: int = 0) -> NDArray[np.float64]:
    """Bootstrap distribution of the mean of values (S, P) of S training seeds on the same P prompts.

    Seeds and prompts are crossed, not nested: every seed meets the same prompts. So a resample draws S seeds and P
    prompts, both with replacement, and takes the mean over all pairs (the pigeonhole bootstrap, Owen 2007). With one
    seed it is the ordinary bootstrap over prompts. One `seed` draws the same seeds and prompts for every array of a
    shape: differences and ratios of what is returned for two methods are paired.

    Returns:
        (resamples,) means.

    Raises:
        ValueError: not a finite array (S, P) with S, P >= 1, or resamples below 1.
    """
    x = np.asarray(values, np.float64)
    if x.ndim != 2 or not x.size or not np.isfinite(x).all():
        raise ValueError(f"values must be a finite array (S, P) with S, P >= 1, not one of shape {x.shape}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples!r}")
    rng = np.random.default_rng(seed)
    seeds, prompts = (rng.multinomial(n, np.full(n, 1 / n), size=resamples) for n in x.shape)  # how often each is drawn
    means: NDArray[np.float64] = ((seeds @ x) * prompts).sum(axis=1) / x.size
    return means


def percentile_interval(means: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """(low, high): what lies between them is the middle `confidence` of a bootstrap distribution."""
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(np.asarray(means, np.float64), [tail, 1.0 - tail])
    return float(low), float(high)
