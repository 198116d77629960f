"""The estimators of a set's worth are gradients: on a softmax policy over five answers, against the exact gradient."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor

from agents.advantages import RewardBatch, estimate

REWARDS = torch.tensor([[0.1, 0.5], [0.9, 0.3], [0.9, 0.3], [0.0, 0.2], [0.6, 1.0]], dtype=torch.float64)  # (5, 2)
LOGITS = torch.tensor([0.3, -0.4, 0.8, 0.9, -1.0], dtype=torch.float64)
GROUP, GROUPS = 6, 60_000


def exact_gradient(worth: Callable[[tuple[int, ...]], float], k: int) -> Tensor:
    """(5,): of the expected worth of k independent answers, summed over all 5 ** k tuples."""
    logits = LOGITS.clone().requires_grad_()
    probabilities = logits.softmax(dim=0)
    expected = sum(
        worth(answers) * probabilities[list(answers)].prod() for answers in product(range(len(LOGITS)), repeat=k)
    )
    return torch.autograd.grad(expected, logits)[0]


def estimated_gradient(name: str, **options: int) -> tuple[Tensor, Tensor]:
    """(5,) mean over groups of the average over rollouts of advantage * score function, and its standard error."""
    probabilities = LOGITS.softmax(dim=0)
    generator = torch.Generator().manual_seed(0)
    drawn = probabilities.expand(GROUPS, -1).multinomial(GROUP, replacement=True, generator=generator)
    advantages = estimate(name, RewardBatch(REWARDS[drawn][:, :, None, :]), **options)
    score_function = torch.eye(len(LOGITS), dtype=torch.float64)[drawn] - probabilities  # d log p(y) / d logits
    gradients = (advantages[..., None] * score_function).mean(dim=1)  # (groups, 5)
    return gradients.mean(dim=0), gradients.std(dim=0) / GROUPS**0.5


def best(answers: tuple[int, ...]) -> float:
    return max(REWARDS[a].mean().item() for a in answers)


def mean_times_diversity(answers: tuple[int, ...]) -> float:
    """Answers 1 and 2 have the same rewards: they are one strategy."""
    strategies = {tuple(REWARDS[a].tolist()) for a in answers}
    return sum(REWARDS[a].mean().item() for a in answers) / len(answers) * len(strategies) / len(answers)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize(
    ("name", "worth"),
    [("max_at_k", best), ("pass_at_k", best), ("maxpo", best), ("poly", mean_times_diversity)],
)
def test_unbiased(name: str, worth: Callable[[tuple[int, ...]], float], k: int) -> None:
    estimated, error = estimated_gradient(name, k=k)
    exact = exact_gradient(worth, k)
    assert (exact.abs() > 10 * error).sum() >= 3  # precise enough to tell k from k + 1 and a missing factor
    assert ((estimated - exact).abs() < 4.5 * error).all()


def test_dr_grpo_is_the_gradient_of_the_mean_but_for_a_factor() -> None:
    """Its baseline contains the rollout itself, which shortens the gradient by (G - 1) / G."""
    estimated, error = estimated_gradient("dr_grpo")
    exact = exact_gradient(best, 1) * (GROUP - 1) / GROUP
    assert ((estimated - exact).abs() < 4.5 * error).all()


def test_maxrl_is_the_gradient_of_the_truncated_log_likelihood() -> None:
    """Binary rewards with pass rate p: the gradient of p, times (1 - (1 - p)^(G-1)) / p (arXiv 2602.02710)."""
    passes = torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    probabilities = LOGITS.softmax(dim=0)
    generator = torch.Generator().manual_seed(1)
    drawn = probabilities.expand(GROUPS, -1).multinomial(GROUP, replacement=True, generator=generator)
    advantages = estimate("maxrl", RewardBatch(passes[drawn][:, :, None, None]))
    gradients = (advantages[..., None] * (torch.eye(5, dtype=torch.float64)[drawn] - probabilities)).mean(dim=1)
    rate = (probabilities * passes).sum()
    exact = probabilities * (passes - rate) * (1 - (1 - rate) ** (GROUP - 1)) / rate
    assert ((gradients.mean(dim=0) - exact).abs() < 4.5 * gradients.std(dim=0) / GROUPS**0.5).all()
