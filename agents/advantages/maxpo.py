"""MaxPO: what a rollout adds to the best of k - 1 others, against a leave-two-out baseline that centres it exactly.

Takashiro et al. 2026, arXiv 2606.06080.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.subsets import check_subset_size, with_minus_without


def maxpo(batch: RewardBatch, *, k: int = 4, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): k times (gain of the rollout - mean gain of the other rollouts in the group without it).

    The gain is that of `pass_at_k`: the mean over k-subsets that contain i of (best - best without i). For the baseline
    of i, every j != i gains over subsets that leave out i as well as j, hence leave-two-out.

    These are the numbers of `max_at_k`: two papers, one estimator. Let M(i, k) and N(i, k) be the mean best of the
    k-subsets with and without i. The gain is M(i, k) - N(i, k - 1). In the group without i, averaged over all its j,
    M(j, k) becomes N(i, k) and N(j, k - 1) becomes N(i, k - 1). The difference is M(i, k) - N(i, k). Draws nothing.

    Args:
        batch: rewards with m = 1.
        k: size of the subsets.

    Raises:
        ValueError: more than one answer per rollout, or k is not in 1 ... G - 1.
    """
    scores = batch.one_answer_scalars("maxpo")
    group = scores.shape[1]
    check_subset_size("maxpo", k, group, largest=group - 1)
    return k * with_minus_without(scores, k)
