"""Vector Policy Optimization: a rollout is worth what its best answer is worth, on average over preferences.

Bahlous-Boldi et al., arXiv 2605.22817.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm
from agents.advantages.weights import Sampler, sample_weights


def vpo(
    batch: RewardBatch,
    *,
    num_weights: int = 100,
    alpha: float = 1.0,
    sampler: Sampler = "iid",
    generator: torch.Generator | None = None,
) -> Tensor:
    """(B, G): `vpo_score`, standardised in each group."""
    score = vpo_score(batch, num_weights=num_weights, alpha=alpha, sampler=sampler, generator=generator)
    return group_znorm(score)


def vpo_score(
    batch: RewardBatch,
    *,
    num_weights: int = 100,
    alpha: float = 1.0,
    sampler: Sampler = "iid",
    generator: torch.Generator | None = None,
) -> Tensor:
    """(B, G): mean over K weights w ~ Dirichlet(alpha) of the maximum over the rollout's answers of w . r.

    The weights are drawn anew for each group in each call and shared by the group's rollouts, so that rollouts differ
    in their answers only. `sample_weights` explains the options.
    """
    weights = sample_weights(
        batch.objective_mask,
        num_weights,
        alpha=alpha,
        sampler=sampler,
        dtype=batch.rewards.dtype,
        generator=generator,
    )
    return set_score(batch, weights)


def set_score(batch: RewardBatch, weights: Tensor) -> Tensor:
    """(B, G): mean over the given weights (B, K, k) of the maximum over the rollout's answers of w . r.

    Absent answers take no part; a rollout without any scores the lower bound.
    """
    weights = weights.transpose(1, 2)  # (B, k, K)
    rewards = batch.for_maximum().transpose(1, 2)  # (B, m, G, k)
    # Answer by answer, because m is small and all m * G * K utilities at once would not fit in a core's cache.
    best = rewards[:, 0] @ weights  # (B, G, K)
    for answer in range(1, rewards.shape[1]):
        torch.maximum(best, rewards[:, answer] @ weights, out=best)
    return best.mean(dim=-1)
