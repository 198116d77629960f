"""Pareto tools over reward vectors: who dominates whom, hypervolume, distance to an exact front. All maximise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def non_dominated(vectors: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Mask (n,) of the vectors (n, k) that no other one dominates (maximisation; repeated vectors all count)."""
    import moocore

    return np.asarray(moocore.is_nondominated(vectors, maximise=True, keep_weakly=True), bool)


def pareto_count(rewards: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many different reward vectors are Pareto-optimal in each pool, and what share of the answers attains one.

    Args:
        rewards: (..., n, d), n >= 1.

    Returns:
        Numbers (...) in 1..n, and shares (...) in (0, 1].

    Raises:
        ValueError: an empty pool.
    """
    values = np.asarray(rewards)
    if values.ndim < 2 or not values.shape[-2]:
        raise ValueError(f"rewards must have shape (..., n, d) with n >= 1, not {values.shape}")
    pools = values.reshape(-1, *values.shape[-2:])
    masks = [non_dominated(pool) for pool in pools]
    counts = [len(np.unique(pool[mask], axis=0)) for pool, mask in zip(pools, masks, strict=True)]
    shares = [mask.mean() for mask in masks]
    shape = values.shape[:-2]
    return np.array(counts, np.int64).reshape(shape), np.array(shares, np.float64).reshape(shape)


def hypervolume(rewards: ArrayLike, reference: ArrayLike | None = None) -> float:
    """Volume that the reward vectors (n, d) dominate above the reference point (d,), the origin by default.

    Raises:
        ValueError: shapes that do not fit.
    """
    import moocore

    values = np.asarray(rewards, np.float64)
    if values.ndim != 2:
        raise ValueError(f"rewards must have shape (n, d), not {values.shape}")
    low = np.zeros(values.shape[1]) if reference is None else np.asarray(reference, np.float64)
    if low.shape != values.shape[1:]:
        raise ValueError(f"the reference point must have shape {values.shape[1:]}, not {low.shape}")
    return float(moocore.hypervolume(values, ref=low, maximise=True)) if len(values) else 0.0


def front_best(fronts: Sequence[ArrayLike], weights: ArrayLike) -> NDArray[np.float64]:
    """E_w of the best vector of each exact front: the ceiling of E_w[best@k], whatever k.

    Args:
        fronts: one (f, d) per prompt, of any size f; an empty front (nothing but zero is attainable) is worth 0.
        weights: (W, d), or (d,) for the ceiling under one weight vector.

    Returns:
        (P,), float64.
    """
    rows = np.atleast_2d(np.asarray(weights, np.float64))
    best = [(np.asarray(f, np.float64) @ rows.T).max(axis=0).mean() if len(np.asarray(f)) else 0.0 for f in fronts]
    return np.array(best, np.float64)
