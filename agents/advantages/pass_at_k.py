"""Pass@k Policy Optimization: a rollout is worth what it adds to the best of k - 1 others.

Walder and Karkhanis 2025, arXiv 2505.15201 (their estimator s_loo-1).
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.subsets import check_subset_size, gain_over_the_others, with_minus_without


def pass_at_k(batch: RewardBatch, *, k: int = 4, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): k times the mean over the k-subsets that contain the rollout of (their best - their best without it).

    The best is under s = w* . r. The average over rollouts of advantage times score function is the unbiased gradient
    of the expected best of k. Advantages are never negative for k >= 2, so they do not sum to 0. Draws nothing.

    Args:
        batch: rewards with m = 1.
        k: size of the subsets; for k = 1, where nothing is left to compare with, the leave-one-out mean.

    Raises:
        ValueError: more than one answer per rollout, or k is not in 1 ... G, or there is one rollout only.
    """
    scores = batch.one_answer_scalars("pass_at_k")
    group = scores.shape[1]
    check_subset_size("pass_at_k", k, group, largest=group if group > 1 else 0)
    return with_minus_without(scores, 1) if k == 1 else k * gain_over_the_others(scores, k)
