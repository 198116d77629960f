"""Every estimator against its slow reference, to 1e-6."""

from __future__ import annotations

import advantage_reference as reference
import pytest
import torch
from advantage_reference import random_arguments, to_batch

from agents.advantages import estimate, sample_weights
from agents.advantages.vpo import set_score, vpo_score

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_weights": 7},
        {"num_weights": 16, "sampler": "sobol"},
        {"alpha": 0.3},
        {"alpha": 2.0, "sampler": "sobol"},
    ],
    ids=str,
)
def test_vpo(seed: int, options: dict) -> None:
    arguments = random_arguments(seed, m=1 + seed % 4)
    batch = to_batch(arguments)
    drawn = sample_weights(
        batch.objective_mask,
        options.get("num_weights", 100),
        alpha=options.get("alpha", 1.0),
        sampler=options.get("sampler", "iid"),
        dtype=torch.float64,
        generator=torch.Generator().manual_seed(seed),
    )
    advantages = estimate("vpo", batch, torch.Generator().manual_seed(seed), **options)
    torch.testing.assert_close(advantages, reference.vpo(arguments, drawn), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_grpo(seed: int) -> None:
    arguments = random_arguments(seed, m=1)
    torch.testing.assert_close(estimate("grpo", to_batch(arguments)), reference.grpo(arguments), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_multi_rlvr(seed: int) -> None:
    arguments = random_arguments(seed, m=1 + seed % 4)
    torch.testing.assert_close(
        estimate("multi_rlvr", to_batch(arguments)), reference.multi_rlvr(arguments), rtol=0, atol=1e-6
    )


def test_by_hand() -> None:
    """Two rollouts, two objectives, all weight on either: the pair of specialists beats the pair of generalists."""
    rewards = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.6], [0.6, 0.6]]]])
    answered = torch.tensor([[[True, True], [True, False]]])
    batch = to_batch({"rewards": rewards, "answered": answered})
    corners = torch.eye(2)[None]
    torch.testing.assert_close(set_score(batch, corners), torch.tensor([[1.0, 0.6]]))
    torch.testing.assert_close(set_score(batch, torch.full((1, 1, 2), 0.5)), torch.tensor([[0.5, 0.6]]))
    # multi_rlvr: 0.5 + 0.5 against 0.6 (the repetition is not answered)
    torch.testing.assert_close(estimate("multi_rlvr", batch), torch.tensor([[1.0, -1.0]]), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("sampler", "num_weights", "atol"), [("iid", 40_000, 6e-3), ("sobol", 4096, 5e-4)])
def test_expected_score_in_closed_form(sampler: str, num_weights: int, atol: float) -> None:
    """k = 2, alpha = 1: w = (t, 1 - t) with t uniform, so the expected maximum of two lines is an integral.

    max(a, b) = b + (a - b)^+, and a - b runs linearly from d0 at t = 0 to d1 at t = 1. With p the larger of the two
    and n the smaller, the integral of the positive part is (p + n) / 2 if n >= 0, 0 if p <= 0, else p^2 / (2 (p - n)).
    """
    rewards = torch.rand(20, 4, 2, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    batch = to_batch({"rewards": rewards})
    score = vpo_score(batch, num_weights=num_weights, sampler=sampler, generator=torch.Generator().manual_seed(0))  # type: ignore[arg-type]

    def expected(a: list[float], b: list[float]) -> float:
        d1, d0 = a[0] - b[0], a[1] - b[1]
        p, n = max(d0, d1), min(d0, d1)
        gain = (p + n) / 2 if n >= 0 else 0.0 if p <= 0 else p * p / (2 * (p - n))
        return sum(b) / 2 + gain

    exact = torch.tensor([[expected(*rollout) for rollout in group] for group in rewards.tolist()], dtype=torch.float64)
    torch.testing.assert_close(score, exact, rtol=0, atol=atol)

    single = vpo_score(
        to_batch({"rewards": rewards[:, :, :1]}),
        num_weights=num_weights,
        sampler=sampler,  # type: ignore[arg-type]
        generator=torch.Generator().manual_seed(0),
    )
    torch.testing.assert_close(single, rewards[:, :, 0].mean(dim=-1), rtol=0, atol=atol)
