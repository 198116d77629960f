"""Weights on the simplex: the Dirichlet's moments, masks, both samplers, hostile concentrations."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from agents.advantages import sample_weights
from agents.advantages.weights import _log_of_bits

samplers = pytest.mark.parametrize("sampler", ["iid", "sobol"])
alphas = pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0, 2.5])


def draw(mask: Tensor, num_weights: int = 100, seed: int = 0, **options: Any) -> Tensor:
    options = {"dtype": torch.float64, **options}
    return sample_weights(mask, num_weights, generator=torch.Generator().manual_seed(seed), **options)


def full(b: int, k: int) -> Tensor:
    return torch.ones(b, k, dtype=torch.bool)


@samplers
@alphas
@pytest.mark.parametrize("real", [[True] * 4, [True, False, True, True]])
def test_dirichlet_moments(sampler: str, alpha: float, real: list[bool]) -> None:
    """With n real objectives: mean 1/n, variance (n-1) / (n^2 (n alpha + 1)), covariance -1 / (n^2 (n alpha + 1))."""
    weights = draw(torch.tensor(real).expand(300, 4), 100, alpha=alpha, sampler=sampler)
    flat = weights.reshape(-1, 4)
    n = sum(real)
    torch.testing.assert_close(flat.sum(dim=1), torch.ones(30_000, dtype=torch.float64))
    assert (flat >= 0).all()
    assert (flat[:, ~torch.tensor(real)] == 0).all()
    flat = flat[:, torch.tensor(real)]
    scale = 1 / (n * n * (n * alpha + 1))
    covariance = scale * (n * torch.eye(n, dtype=torch.float64) - 1)
    torch.testing.assert_close(flat.mean(dim=0), torch.full((n,), 1 / n, dtype=torch.float64), rtol=0, atol=0.012)
    torch.testing.assert_close(flat.T.cov(), covariance, rtol=0, atol=0.006)


@samplers
def test_uniform_on_the_simplex(sampler: str) -> None:
    """alpha = 1, k = 2: the first weight is uniform, so the empirical quantiles are the quantiles."""
    first = draw(full(200, 2), 100, sampler=sampler)[..., 0].flatten().sort().values
    ideal = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    torch.testing.assert_close(first, ideal, rtol=0, atol=0.015)


@alphas
@pytest.mark.parametrize("masked", [False, True])
def test_sobol_estimates_the_mean_better(alpha: float, masked: bool) -> None:
    """Variance over groups of the average of w_0: at most a third of what independent weights have."""
    mask = full(400, 3)
    mask[:, 1] = not masked
    variance = {s: draw(mask, 100, alpha=alpha, sampler=s)[..., 0].mean(dim=1).var() for s in ("iid", "sobol")}
    assert variance["sobol"] < variance["iid"] / 3


def test_sobol_groups_are_not_copies() -> None:
    """The shifts are independent: averages of different groups do not move together over seeds."""
    means = torch.stack([draw(full(2, 3), 16, seed=s, sampler="sobol")[..., 0].mean(dim=1) for s in range(400)])
    assert abs(means.T.corrcoef()[0, 1]) < 0.2
    assert not torch.equal(*draw(full(2, 3), 16, sampler="sobol"))


@samplers
@alphas
def test_a_lone_objective_gets_all_weight(sampler: str, alpha: float) -> None:
    assert (draw(full(50, 1), 200, alpha=alpha, sampler=sampler) == 1).all()
    mask = torch.tensor([[False, True, False]]).expand(50, 3)
    weights = draw(mask, 200, alpha=alpha, sampler=sampler)
    assert (weights == torch.tensor([0.0, 1.0, 0.0])).all()


@samplers
@pytest.mark.parametrize("alpha", [1e-4, 1e4])
def test_extreme_concentrations(sampler: str, alpha: float) -> None:
    weights = draw(full(20, 3), 50, alpha=alpha, sampler=sampler, dtype=torch.float32)
    assert weights.isfinite().all()
    best = weights.max(dim=-1).values
    assert best.mean() > 0.99 if alpha < 1 else best.max() < 0.4


@samplers
@alphas
def test_a_seed_means_the_same_weights_in_both_dtypes(sampler: str, alpha: float) -> None:
    double = draw(full(3, 4), alpha=alpha, sampler=sampler)
    single = draw(full(3, 4), alpha=alpha, sampler=sampler, dtype=torch.float32)
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-6)


@samplers
def test_the_mask_of_one_group_does_not_change_another(sampler: str) -> None:
    mask = full(2, 4)
    before = draw(mask, sampler=sampler)
    mask[1, 0] = False
    after = draw(mask, sampler=sampler)
    assert torch.equal(after[0], before[0])
    assert not torch.equal(after[1], before[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_weights": 0}, "num_weights must be a whole number of at least 1, not 0"),
        ({"alpha": 0.0}, "alpha must be a positive, finite number"),
        ({"alpha": float("inf")}, "alpha must be a positive, finite number"),
        ({"sampler": "halton"}, "'iid' or 'sobol', not 'halton'"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(full(1, 2), **options)


def test_random_bits_become_uniforms_without_ends() -> None:
    ends = torch.tensor([-(2**31), -(2**31) + 1, 2**31 - 65, 2**31 - 64, 2**31 - 1], dtype=torch.int32)
    uniforms = _log_of_bits(ends).exp().double()
    torch.testing.assert_close(uniforms[:2], torch.full((2,), 2.0**-24, dtype=torch.float64))
    assert (_log_of_bits(ends) < 0).all()
    middle = torch.arange(-(2**31), 2**31, 2**20, dtype=torch.int64)
    ideal = (middle + 2**31).double() / 2**32
    torch.testing.assert_close(_log_of_bits(middle.int()).exp().double(), ideal, rtol=0, atol=2e-7)
