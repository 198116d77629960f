"""Weights on the simplex have the distribution that they claim, masked and quasi-random ones included."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from vpo_envs.scalarization import sample_weights, simplex_grid

SAMPLERS: list[Any] = ["iid", "sobol"]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
def test_moments_are_those_of_the_dirichlet_distribution(sampler: Any, alpha: float) -> None:
    dim = 4
    w = sample_weights(1 << 14, dim, alpha, sampler)
    assert w.shape == (1 << 14, dim)
    assert (w >= 0).all()
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)
    # Var w_i = (dim - 1) / (dim^2 (dim alpha + 1)), Cov(w_i, w_j) = -1 / (dim^2 (dim alpha + 1)).
    unit = 1 / (dim**2 * (dim * alpha + 1))
    expected = unit * (dim * np.eye(dim) - np.ones((dim, dim)))
    np.testing.assert_allclose(w.mean(axis=0), 1 / dim, atol=0.008)
    np.testing.assert_allclose(np.cov(w.T), expected, atol=0.05 * unit * dim)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_masked_objectives_get_nothing_and_the_rest_is_dirichlet(sampler: Any, alpha: float) -> None:
    mask = np.array([True, False, True, True, False])
    w = sample_weights(1 << 13, 5, alpha, sampler, mask=mask)
    assert (w[:, ~mask] == 0).all()
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(w[:, mask].var(axis=0), 2 / (9 * (3 * alpha + 1)), rtol=0.06)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_one_real_objective_gets_everything(sampler: Any) -> None:
    assert sample_weights(3, 1, sampler=sampler).tolist() == [[1.0]] * 3
    assert sample_weights(2, 3, 0.5, sampler, mask=[False, True, False]).tolist() == [[0.0, 1.0, 0.0]] * 2


@pytest.mark.parametrize("alpha", [1.0, 0.4])
def test_sobol_estimates_a_smooth_function_with_less_variance(alpha: float) -> None:
    def estimates(sampler: Any) -> np.ndarray:
        draws = [sample_weights(128, 3, alpha, sampler, rng=seed) for seed in range(60)]
        return np.array([np.exp(w @ [0.2, 1.0, 0.5]).mean() for w in draws])

    iid, sobol = estimates("iid"), estimates("sobol")
    assert sobol.var() < iid.var() / 20
    assert sobol.mean() == pytest.approx(iid.mean(), abs=5 * iid.std() / math.sqrt(60))  # scrambling keeps it unbiased


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1e3])
def test_extreme_concentrations_stay_on_the_simplex(sampler: Any, alpha: float) -> None:
    w = sample_weights(256, 6, alpha, sampler)
    assert np.isfinite(w).all()
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)
    if alpha < 1:  # all in one corner, and every corner is met
        assert np.median(w.max(axis=1)) > 0.99
        assert len(set(w.argmax(axis=1))) == 6
    else:
        np.testing.assert_allclose(w, 1 / 6, atol=0.05)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_rows_follow_from_the_generator(sampler: Any) -> None:
    rng = np.random.default_rng(5)
    first, second = sample_weights(10, 3, 1.0, sampler, rng=rng), sample_weights(10, 3, 1.0, sampler, rng=rng)
    np.testing.assert_array_equal(first, sample_weights(10, 3, 1.0, sampler, rng=5))
    assert not np.allclose(first, second)


def test_sobol_of_any_number_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for num in (1, 2, 3, 100):
            assert sample_weights(num, 4, sampler="sobol").shape == (num, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num": 0}, "num must be a whole number of at least 1, not 0"),
        ({"num": 1.5}, "num must be"),
        ({"dim": 0}, "dim must be"),
        ({"dim": True}, "dim must be"),
        ({"alpha": 0.0}, "alpha must be a positive number, not 0.0"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"alpha": math.nan}, "alpha must be"),
        ({"alpha": math.inf}, "alpha must be"),
        ({"sampler": "halton"}, "sampler must be 'iid' or 'sobol', not 'halton'"),
        ({"mask": [True, False]}, r"mask must have shape \(3,\), not \(2,\)"),
        ({"mask": [False] * 3}, "no objective"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_weights(**({"num": 4, "dim": 3} | arguments))


def test_the_grid_holds_every_weight_with_that_denominator() -> None:
    assert simplex_grid(2, 2).tolist() == [[0, 1], [0.5, 0.5], [1, 0]]
    assert simplex_grid(1, 5).tolist() == [[1]]
    for dim, divisions in [(3, 4), (4, 3), (5, 1)]:
        grid = simplex_grid(dim, divisions)
        assert len(grid) == math.comb(divisions + dim - 1, dim - 1) == len(np.unique(grid, axis=0))
        np.testing.assert_allclose(grid.sum(axis=1), 1.0)
        np.testing.assert_allclose(grid * divisions, np.round(grid * divisions))
    with pytest.raises(ValueError, match="divisions must be"):
        simplex_grid(3, 0)
