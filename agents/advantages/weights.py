"""Dirichlet weights on the simplex of each group's objectives, iid or low-discrepancy, on any device."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

Sampler = Literal["iid", "sobol"]
_SOBOL_BITS = 30  # torch's SobolEngine gives multiples of 2**-30


def sample_weights(
    objective_mask: Tensor,
    num_weights: int,
    *,
    alpha: float = 1.0,
    sampler: Sampler = "iid",
    dtype: torch.dtype = torch.float32,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw `num_weights` weights ~ Dirichlet(alpha, ..., alpha) over the real objectives of each group.

    Gamma(alpha) variates, masked, divided by their sum: masked objectives get exactly 0, the others are Dirichlet among
    themselves. Random bits do not depend on `dtype`: one seed gives the same weights in float32 and float64.

    Args:
        objective_mask: (B, k) bool, at least one True in each row; its device is where the weights go.
        num_weights: K >= 1.
        alpha: concentration > 0; 1 is uniform on the simplex, smaller is nearer the corners.
        sampler: "iid", or "sobol": the K weights of a group are one scrambled Sobol set (Owen 1998) mapped to the
            simplex after a random digital shift of the group's own. Each weight is still Dirichlet, so averages over
            them stay unbiased, with a smaller error.
        generator: where the bits come from; may be on another device than the mask. Default: torch's global one.

    Returns:
        (B, K, k), rows sum to 1.

    Raises:
        ValueError: an option is out of range.
    """
    if not isinstance(num_weights, int) or num_weights < 1:
        raise ValueError(f"num_weights must be a whole number of at least 1, not {num_weights!r}")
    if not isinstance(alpha, int | float) or not (math.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be a positive, finite number, not {alpha!r}")
    if sampler not in ("iid", "sobol"):
        raise ValueError(f"sampler must be 'iid' or 'sobol', not {sampler!r}")
    # The K weights are innermost here: sums over a few objectives, and products with rewards, are faster that way.
    shape = (*objective_mask.shape, num_weights)  # (B, k, K)
    draw = _iid if sampler == "iid" else _sobol
    return draw(shape, objective_mask[..., None], float(alpha), dtype, generator).transpose(1, 2)


def _iid(
    shape: tuple[int, ...], mask: Tensor, alpha: float, dtype: torch.dtype, generator: torch.Generator | None
) -> Tensor:
    source = mask.device if generator is None else generator.device
    if alpha == 1:
        # Exp(1) variates but for the sign, which cancels.
        return _normalised(_log_uniform(shape, source, generator).to(mask.device, dtype), mask)
    # For small alpha the variates underflow and their logarithms do not: Gamma(a) = Gamma(a + 1) * U**(1 / a).
    # torch.distributions.Gamma draws with this same function, but has no way to name a generator.
    concentration = torch.full(shape, alpha if alpha > 1 else alpha + 1, device=source)
    log_variates = torch._standard_gamma(concentration, generator=generator).log_()
    if alpha < 1:
        log_variates += _log_uniform(shape, source, generator) / alpha
    return _softmax(log_variates.to(mask.device, dtype), mask)


def _log_uniform(shape: tuple[int, ...], source: torch.device, generator: torch.Generator | None) -> Tensor:
    """Logarithms of uniforms, float32, finite and below 0."""
    # On a CPU, drawing takes most of the estimator's time, and 64 bits take hardly longer than 32: two uniforms a draw.
    count = math.prod(shape)
    draws = torch.empty((count + 1) // 2, dtype=torch.int64, device=source)
    draws.random_(-(2**63), None, generator=generator)
    return _log_of_bits(draws.view(torch.int32)[:count].view(shape))


def _log_of_bits(bits: Tensor) -> Tensor:
    """Any int32 -> log of a float32 in [2**-24, 1 - 2**-24]: an end of 0 or 1 would give a lone objective 0 / 0."""
    return bits.to(torch.float32).mul_(2**-32 * (1 - 2**-23)).add_(0.5).log_()


def _sobol(
    shape: tuple[int, ...], mask: Tensor, alpha: float, dtype: torch.dtype, generator: torch.Generator | None
) -> Tensor:
    points = _sobol_points(shape, mask.device if generator is None else generator.device, generator)
    if alpha != 1:
        return _softmax(_log_gamma_quantile(points, alpha), mask.cpu()).to(mask.device, dtype)
    # Sorted uniforms cut the unit interval into Dirichlet(1) spacings. They cannot leave out an objective, so groups
    # with a masked one take the inverse CDF of Exp(1) instead.
    spacings = _spacings(points[:, 1:]).to(mask.device, dtype)
    if mask.all():
        return spacings
    quantiles = _normalised(points.log_().to(mask.device, dtype), mask)
    return torch.where(mask.all(dim=1, keepdim=True), spacings, quantiles)


def _sobol_points(shape: tuple[int, ...], source: torch.device, generator: torch.Generator | None) -> Tensor:
    """(B, k, K) float64 on the CPU, strictly inside (0, 1): one scrambled set, digitally shifted for each group."""
    groups, dims, num = shape
    seed = int(torch.randint(2**31 - 1, (), generator=generator, device=source))
    digits = (SobolEngine(dims, scramble=True, seed=seed).draw(num, dtype=torch.float64) * 2**_SOBOL_BITS).long()
    shift = torch.randint(2**_SOBOL_BITS, (groups, dims, 1), generator=generator, device=source).cpu()
    return ((digits.T ^ shift) + 0.5) / 2**_SOBOL_BITS


def _spacings(points: Tensor) -> Tensor:
    """(B, k - 1, K) uniforms -> (B, k, K) lengths between them once sorted."""
    zeros = points.new_zeros(points.shape[0], 1, points.shape[2])
    return torch.cat([zeros, points.sort(dim=1).values, zeros + 1], dim=1).diff(dim=1)


def _log_gamma_quantile(points: Tensor, alpha: float) -> Tensor:
    """Logarithm of the Gamma(alpha) quantile function, on the CPU in float64."""
    from scipy.special import gammaincinv  # only this combination of options needs SciPy

    quantiles = torch.from_numpy(gammaincinv(alpha, points.numpy()))
    # Near 0 the CDF is x**alpha / Gamma(alpha + 1), whose inverse has a logarithm long after x has underflowed.
    tail = (points.log() + math.lgamma(alpha + 1)) / alpha
    return torch.where(quantiles > 1e-290, quantiles.log(), tail)


def _normalised(variates: Tensor, mask: Tensor) -> Tensor:
    """In place: variates (B, k, K), masked by (B, k, 1), divided by their sum over the objectives."""
    variates *= mask
    variates /= variates.sum(dim=1, keepdim=True)
    return variates


def _softmax(log_variates: Tensor, mask: Tensor) -> Tensor:
    """`_normalised` of exp(log_variates), safe where all of them underflow."""
    return log_variates.masked_fill_(~mask, -torch.inf).softmax(dim=1)
