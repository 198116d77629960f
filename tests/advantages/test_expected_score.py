"""The set score against its exact expectation over weights (m <= 2, alpha = 1), and how far K weights are from it."""

from __future__ import annotations

from fractions import Fraction

import advantage_reference as reference
import pytest
import torch
from advantage_reference import random_arguments, to_batch
from exact_expectation import expected_best, expected_positive_part
from torch import Tensor

from agents.advantages.vpo import vpo_score


def exact_scores(arguments: dict) -> Tensor:
    return torch.tensor(
        [[expected_best(rollout) for rollout in group] for group in reference.groups(arguments)], dtype=torch.float64
    )


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        ([2, 2, 2], 2),  # all equal: a constant
        ([-1, -2, -2], 0),  # never positive
        ([1, 2, 6], 3),  # always positive: the mean
        ([1, -1], Fraction(1, 4)),  # a uniform on (-1, 1)
        ([3, -1], Fraction(9, 8)),
        ([1, 0, 0, 0], Fraction(1, 4)),  # the first weight
        ([1, 1, 0], Fraction(2, 3)),  # the sum of two weights
        ([1, -1, 0], Fraction(1, 6)),  # half of E|w_1 - w_2| = 1/3
    ],
)
def test_oracle_by_hand(d: list[int], expected: Fraction | int) -> None:
    assert expected_positive_part([Fraction(x) for x in d]) == expected


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
def test_oracle_against_monte_carlo(k: int, ties: bool) -> None:
    """A million weights drawn by NumPy; ten pairs of answers, five standard errors."""
    import numpy as np

    rng = np.random.default_rng(k)
    weights = rng.dirichlet(np.ones(k), 1_000_000)
    pairs = rng.random((10, 2, k))
    if ties:
        pairs = pairs.round()
    for a, b in pairs:
        best = np.maximum(weights @ a, weights @ b)
        error = 5 * best.std() / 1000 + 1e-12
        assert expected_best([a.tolist(), b.tolist()]) == pytest.approx(best.mean(), abs=error)


@pytest.mark.parametrize(("sampler", "num_weights", "atol"), [("iid", 40_000, 6e-3), ("sobol", 4096, 5e-4)])
@pytest.mark.parametrize("m", [1, 2])
def test_vpo_score(sampler: str, num_weights: int, atol: float, m: int) -> None:
    """With masks, absent answers and silent rollouts."""
    arguments = random_arguments(3, m=m, k=4)
    generator = torch.Generator().manual_seed(0)
    score = vpo_score(to_batch(arguments), num_weights=num_weights, sampler=sampler, generator=generator)  # type: ignore[arg-type]
    torch.testing.assert_close(score, exact_scores(arguments), rtol=0, atol=atol)


@pytest.mark.parametrize("num_weights", [16, 100])
def test_sobol_weights_estimate_the_score_better(num_weights: int) -> None:
    """Mean squared error over 60 draws: at most half of what independent weights have, at the same cost."""
    arguments = random_arguments(0, b=20, g=8, m=2, k=4)
    arguments["objective_mask"][:] = True
    batch, exact = to_batch(arguments), exact_scores(arguments)

    def squared_error(sampler: str) -> float:
        errors = [
            vpo_score(batch, num_weights=num_weights, sampler=sampler, generator=torch.Generator().manual_seed(seed))  # type: ignore[arg-type]
            - exact
            for seed in range(60)
        ]
        return torch.stack(errors).square().mean().item()

    assert squared_error("sobol") < squared_error("iid") / 2
