"""Weights on the simplex: random ones (Dirichlet, independent or quasi-random) and regular grids."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Sampler = Literal["iid", "sobol"]


def sample_weights(
    num: int,
    dim: int,
    alpha: float = 1.0,
    sampler: Sampler = "iid",
    mask: ArrayLike | None = None,
    rng: np.random.Generator | int = 0,
) -> NDArray[np.float64]:
    """`num` weight vectors of a symmetric Dirichlet(alpha) distribution on the simplex.

    A Dirichlet vector is a vector of independent Gamma(alpha) variates divided by its sum; masking the variates before
    the division gives the Dirichlet distribution on the real objectives alone. With `sampler="sobol"` the variates come
    from a scrambled Sobol sequence: for alpha = 1 the rows are the spacings of sorted uniforms (one dimension less),
    else Gamma quantiles. Each Sobol row has the same distribution as an independent one; together they cover the
    simplex more evenly, most so where `num` is a power of two.

    Args:
        num: number of weight vectors, at least 1.
        dim: number of objectives, at least 1.
        alpha: concentration, positive; 1 is uniform on the simplex, less favours its corners.
        sampler: "iid" or "sobol".
        mask: bool (dim,), the real objectives; the others get weight 0 exactly. Default: all.
        rng: a generator, or a seed for one.

    Returns:
        (num, dim), entries in [0, 1], rows sum to 1.

    Raises:
        ValueError: an argument outside these ranges, or no real objective.
    """
    _check_count("num", num)
    _check_count("dim", dim)
    if not (math.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be a positive number, not {alpha!r}")
    if sampler not in ("iid", "sobol"):
        raise ValueError(f"sampler must be 'iid' or 'sobol', not {sampler!r}")
    real = np.ones(dim, bool) if mask is None else np.asarray(mask, bool)
    if real.shape != (dim,):
        raise ValueError(f"mask must have shape ({dim},), not {real.shape}")
    if not real.any():
        raise ValueError("the mask leaves no objective to weigh")
    generator = np.random.default_rng(rng)
    free = int(real.sum())
    weights = np.zeros((num, dim))
    if free == 1:
        weights[:, real] = 1.0
    elif sampler == "sobol" and alpha == 1.0:
        cuts = np.sort(_sobol(num, free - 1, generator), axis=1)
        weights[:, real] = np.diff(cuts, axis=1, prepend=0.0, append=1.0)
    else:
        # In logarithms, so that no row underflows to all zeros where alpha is small.
        if sampler == "sobol":
            logs = _log_gamma_quantiles(_sobol(num, free, generator), alpha)
        else:
            logs = _log_gamma_variates(num, free, alpha, generator)
        variates = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights[:, real] = variates / variates.sum(axis=1, keepdims=True)
    return weights


def simplex_grid(dim: int, divisions: int) -> NDArray[np.float64]:
    """All weight vectors whose entries are multiples of 1 / divisions.

    Returns:
        (C(divisions + dim - 1, dim - 1), dim), in lexicographic order; rows sum to 1.

    Raises:
        ValueError: `dim` or `divisions` below 1.
    """
    _check_count("dim", dim)
    _check_count("divisions", divisions)
    # Stars and bars: dim - 1 bars among divisions + dim - 1 places; the gaps between bars are the numerators.
    places = divisions + dim - 1
    bars = np.array(list(combinations(range(places), dim - 1)), np.int64).reshape(math.comb(places, dim - 1), dim - 1)
    return (np.diff(bars, axis=1, prepend=-1, append=places) - 1) / divisions


def _sobol(num: int, dim: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The first `num` points of a scrambled Sobol sequence in (0, 1)^dim."""
    from scipy.stats import qmc

    points = qmc.Sobol(dim, scramble=True, seed=rng).random_base2(max(0, (num - 1).bit_length()))
    return np.clip(points[:num], 2.0**-40, 1.0 - 2.0**-40)


def _log_gamma_variates(num: int, dim: int, alpha: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """log Gamma(alpha) variates (num, dim), by Gamma(a) = Gamma(a + 1) U^(1/a) (Marsaglia & Tsang 2000)."""
    u = 1.0 - rng.random((num, dim))  # in (0, 1]
    return np.log(rng.standard_gamma(alpha + 1.0, (num, dim))) + np.log(u) / alpha


def _log_gamma_quantiles(u: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """log of the Gamma(alpha) quantiles at u in (0, 1)."""
    from scipy.special import gammaincinv, gammaln

    x = gammaincinv(alpha, u)
    # Near zero the distribution function is x^alpha / Gamma(alpha + 1); its inverse there survives underflow.
    small = (np.log(u) + gammaln(alpha + 1.0)) / alpha
    return np.where(x > 1e-100, np.log(np.maximum(x, 1e-300)), small)


def _check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
