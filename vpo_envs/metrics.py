"""Search metrics: what the best of k answers is worth, in expectation over which k are drawn.

`n` answers per prompt, `d` objectives, `W` weight vectors (`vpo_envs.scalarization`). Leading axes, shown as `...`,
are prompts; every function works on all of them at once and returns one value each, ready for
`vpo_envs.bootstrap.bootstrap_interval`. Pareto tools are in `vpo_envs.pareto_metrics`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vpo_envs.pareto_metrics import front_best, hypervolume, non_dominated, pareto_count

__all__ = [
    "best_at_k",
    "best_of_set",
    "diversity",
    "expected_best_at_k",
    "expected_best_of_set",
    "front_best",
    "hypervolume",
    "non_dominated",
    "pareto_count",
    "pass_at_k",
    "regret",
    "solved",
]

Floats = NDArray[np.float64]
_CHUNK = 1 << 22
"""Numbers held at once (32 MB) where weights are taken in chunks."""


def best_at_k(scalars: ArrayLike, k: int) -> Floats:
    """Expectation of the best of k answers, drawn without replacement from the n in the pool.

    The i-th smallest of n values is the largest of C(i-1, k-1) of the C(n, k) subsets (Walder & Karkhanis 2025, arXiv
    2505.15201).

    Args:
        scalars: (..., n).
        k: 1 <= k <= n.

    Returns:
        (...), float64.

    Raises:
        ValueError: k outside 1..n.
    """
    values = np.asarray(scalars, np.float64)
    return np.sort(values, axis=-1) @ _subset_weights(values.shape[-1] if values.ndim else 0, k)


def _subset_weights(n: int, k: int) -> Floats:
    """(n,): C(i-1, k-1) / C(n, k) for i = 1..n."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise ValueError(f"k must be a whole number from 1 to the {n} answers there are, not {k!r}")
    # From the top: the last weight is k / n, and the one below i is its (i - k) / (i - 1). No binomial is formed.
    i = np.arange(n, 1, -1)
    return np.cumprod(np.concatenate([[k / n], np.maximum(i - k, 0) / (i - 1)]))[::-1]


def solved(rewards: ArrayLike, objective_mask: ArrayLike | None = None) -> NDArray[np.bool_]:
    """Whether an answer reaches 1 (up to 1e-6) in every real objective.

    Args:
        rewards: (..., d).
        objective_mask: bool (d,), or with the leading axes of `rewards`: (B, d) for rewards (B, n, d).

    Returns:
        bool (...).

    Raises:
        ValueError: the mask does not fit the rewards, or a problem has no real objective.
    """
    values = np.asarray(rewards)
    return ((values >= 1.0 - 1e-6) | ~_align_mask(objective_mask, values.shape)).all(axis=-1)


def pass_at_k(is_solved: ArrayLike, k: int) -> Floats:
    """Probability that at least one of k answers drawn from the n is solved: 1 - C(n-c, k) / C(n, k), c solved.

    The unbiased estimator of Chen et al. 2021 (arXiv 2107.03374), which is best@k of zeros and ones.

    Args:
        is_solved: bool (..., n), see `solved`.
        k: 1 <= k <= n.

    Raises:
        TypeError: not booleans (a reward is not a verdict).
        ValueError: k outside 1..n.
    """
    flags = np.asarray(is_solved)
    if flags.dtype != bool:
        raise TypeError(f"pass_at_k takes booleans, not {flags.dtype}; see vpo_envs.metrics.solved")
    return best_at_k(flags, k)


def expected_best_at_k(
    rewards: ArrayLike, weights: ArrayLike, k: int, objective_mask: ArrayLike | None = None
) -> Floats:
    """E_w[best@k]: best@k under each weight vector, averaged over them.

    Args:
        rewards: (..., n, d).
        weights: (W, d) or (d,).
        k: 1 <= k <= n.
        objective_mask: bool (d,) or (..., d), the real objectives of each prompt; weights are renormalised on them.

    Returns:
        (...), float64.

    Raises:
        ValueError: k outside 1..n, or shapes that do not fit.
    """
    values, rows = _rewards_and_weights(rewards, weights, "(..., n, d)", 2)
    subset_weights = _subset_weights(values.shape[-2], k)
    total = np.zeros(values.shape[:-2])
    for scalars in _scalarized(values, rows, objective_mask):  # (..., n, c)
        total += np.einsum("...nc,n->...", np.sort(scalars, axis=-2), subset_weights)
    return total / len(rows)


def best_of_set(scalars: ArrayLike, answered: ArrayLike | None = None, no_answer: float = 0.0) -> Floats:
    """Best answer of each rollout's own set: (..., m) -> (...).

    Absent answers (`answered` (..., m) False) take no part; a set without any is worth `no_answer`.
    """
    values = np.asarray(scalars, np.float64)
    if answered is None:
        return values.max(axis=-1)
    present = np.asarray(answered, bool)
    best = np.where(present, values, -np.inf).max(axis=-1)
    return np.where(present.any(axis=-1), best, no_answer)


def expected_best_of_set(
    rewards: ArrayLike,
    answered: ArrayLike,
    weights: ArrayLike,
    objective_mask: ArrayLike | None = None,
    no_answer: float = 0.0,
) -> Floats:
    """The objective of Vector Policy Optimization: E_w of the best in a rollout's own set, averaged over rollouts.

    Args:
        rewards: (..., n, m, d), n rollouts of m answers.
        answered: bool (..., n, m).
        weights: (W, d) or (d,).
        objective_mask: bool (d,) or (..., d), the real objectives of each prompt; weights are renormalised on them.
        no_answer: scalar worth of a rollout without an answer.

    Returns:
        (...), float64.

    Raises:
        ValueError: shapes that do not fit.
    """
    values, rows = _rewards_and_weights(rewards, weights, "(..., n, m, d)", 3)
    present = np.asarray(answered, bool)
    if present.shape != values.shape[:-1]:
        raise ValueError(f"answered must have shape {values.shape[:-1]}, not {present.shape}")
    total = np.zeros(values.shape[:-3])
    for scalars in _scalarized(values, rows, objective_mask):  # (..., n, m, c)
        sets = np.moveaxis(scalars, -1, 0)  # (c, ..., n, m)
        total += best_of_set(sets, np.broadcast_to(present, sets.shape), no_answer).mean(axis=-1).sum(axis=0)
    return total / len(rows)


def diversity(rewards: ArrayLike) -> Floats:
    """Mean L1 distance between the reward vectors of two different answers; 0 for a single answer.

    In each objective the i-th smallest of n values (from 0) counts i times positively and n-1-i times negatively, so
    sorting replaces the sum over pairs.

    Args:
        rewards: (..., n, d).

    Returns:
        (...), in [0, d] for rewards in [0, 1].
    """
    values = np.asarray(rewards, np.float64)
    n = values.shape[-2]
    if n < 2:
        return np.zeros(values.shape[:-2])
    signs = 2.0 * np.arange(n) - (n - 1)
    return np.einsum("...nd,n->...", np.sort(values, axis=-2), signs) / (n * (n - 1) / 2)


def objective_correlation(rewards: ArrayLike, answered: ArrayLike | None = None) -> Floats:
    """Pearson correlation (k, k) of the objectives over the answers to the same problem.

    Every problem's rewards are centred first, so that easy and hard problems do not make all objectives look alike:
    what is left says whether an answer that earns more of one objective earns more of the other, or less.

    Args:
        rewards: (P, n, k), n answers to each of P problems.
        answered: (P, n) bool, answers that count; default all.

    Returns:
        (k, k), symmetric, 1 on the diagonal; NaN in the rows and columns of an objective that never varies within a
        problem.
    """
    values = np.asarray(rewards, np.float64)
    there = np.ones(values.shape[:2], bool) if answered is None else np.asarray(answered, bool)
    counts = np.maximum(there.sum(1), 1)[:, None, None]  # (P, 1, 1)
    values = np.where(there[..., None], values, 0.0)  # an absent answer's rewards may be anything
    centred = ((values - values.sum(1, keepdims=True) / counts) * there[..., None]).reshape(-1, values.shape[-1])
    covariance = centred.T @ centred
    spread = np.sqrt(np.diag(covariance))
    spread[spread < 1e-9] = np.nan
    correlation = np.clip(covariance / np.outer(spread, spread), -1, 1)
    np.fill_diagonal(correlation, np.where(np.isnan(spread), np.nan, 1.0))
    return correlation


def regret(rewards: ArrayLike, fronts: Sequence[ArrayLike], weights: ArrayLike, k: int | None = None) -> Floats:
    """How far the best of k answers stays below the exact front's own best, averaged over weights.

    Args:
        rewards: (P, n, d).
        fronts: one (f, d) per prompt, for Maze `MazeTask.pareto_front`.
        weights: (W, d) for E_w regret; the reference weights (d,) for the regret of the fixed scalarization.
        k: answers drawn, 1..n; default all n.

    Returns:
        (P,), at least 0 if the fronts are exact.

    Raises:
        ValueError: shapes that do not fit, or another number of fronts than of prompts.
    """
    values = np.asarray(rewards, np.float64)
    if values.ndim != 3 or len(values) != len(fronts):
        raise ValueError(f"rewards must have shape ({len(fronts)}, n, d), one pool for each front, not {values.shape}")
    best = expected_best_at_k(values, weights, values.shape[1] if k is None else k)
    return front_best(fronts, weights) - best


def _rewards_and_weights(rewards: ArrayLike, weights: ArrayLike, shape: str, axes: int) -> tuple[Floats, Floats]:
    values = np.asarray(rewards, np.float64)
    rows = np.atleast_2d(np.asarray(weights, np.float64))
    if values.ndim < axes:
        raise ValueError(f"rewards must have shape {shape}, not {values.shape}")
    if rows.ndim != 2 or rows.shape[1] != values.shape[-1] or not len(rows):
        raise ValueError(f"weights must have shape (W, {values.shape[-1]}), not {np.shape(weights)}")
    return values, rows


def _scalarized(values: Floats, weights: Floats, objective_mask: ArrayLike | None) -> Iterator[Floats]:
    """rewards (..., d) under chunks of the weights (W, d): (..., c) at a time, so that memory stays bounded."""
    mask = None if objective_mask is None else _align_mask(objective_mask, values.shape)
    chunk = max(1, _CHUNK // max(1, values[..., 0].size))
    for start in range(0, len(weights), chunk):
        rows = weights[start : start + chunk].T  # (d, c)
        if mask is None:
            yield values @ rows
        else:
            mass = mask @ rows
            if (mass <= 0).any():
                raise ValueError("a weight vector gives nothing to the real objectives of a problem")
            yield (values * mask) @ rows / mass


def _align_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[Any]:
    """A mask (d,) or (B..., d) as an array that broadcasts against rewards (B..., n..., d)."""
    if mask is None:
        return np.ones(shape[-1], bool)
    m = np.asarray(mask, bool)
    if m.ndim < 1 or m.ndim > len(shape) or m.shape[-1] != shape[-1] or m.shape[:-1] != shape[: m.ndim - 1]:
        raise ValueError(f"an objective mask of shape {m.shape} does not fit rewards of shape {shape}")
    if not m.any(axis=-1).all():
        raise ValueError("an objective mask leaves a problem without objectives")
    return m.reshape(*m.shape[:-1], *(1,) * (len(shape) - m.ndim), m.shape[-1])
