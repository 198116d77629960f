"""Max@k: the gradient of the expected best of k single answers, with the subsets that lack the rollout as its baseline.

Bagirov et al. 2025, arXiv 2510.23393 (the reward transformation of equation 9).
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.subsets import check_subset_size, with_minus_without


def max_at_k(batch: RewardBatch, *, k: int = 4, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): k times (mean best of the k-subsets of the group that contain the rollout - mean best of the others).

    The best is under s = w* . r. The factor k makes the average over rollouts of advantage times score function the
    unbiased gradient of the expected best of k. Up to a factor that depends on G and k, these are the paper's
    transformed rewards, centred; its method "BoN mean" divides by their std as well. Draws nothing.

    Args:
        batch: rewards with m = 1.
        k: size of the subsets; k = 1 is the leave-one-out mean.

    Raises:
        ValueError: more than one answer per rollout, or k is not in 1 ... G - 1.
    """
    scores = batch.one_answer_scalars("max_at_k")
    group = scores.shape[1]
    check_subset_size("max_at_k", k, group, largest=group - 1)
    return k * with_minus_without(scores, k)
