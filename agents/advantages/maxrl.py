"""Maximum Likelihood RL: the rarer success is in a group, the more a success counts.

Tajwar et al. 2026, arXiv 2602.02710. With a pass rate p, dividing by the mean turns the gradient of p into that of
log p, up to the order in 1 - p that a group can estimate. The paper has binary rewards; other scores are our extension.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import EPSILON, group_center


def maxrl(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): (s - mean) / (mean + 1e-6) in each group, with s = w* . r of the rollout's only answer. Draws nothing.

    Raises:
        ValueError: more than one answer per rollout, or a score is negative.
    """
    scores = batch.one_answer_scalars("maxrl")
    check_not_negative("maxrl", scores)
    return group_center(scores) / (scores.mean(dim=-1, keepdim=True) + EPSILON)


def check_not_negative(estimator: str, scores: Tensor) -> None:
    """ValueError if a score (B, G) is negative."""
    if (scores >= 0).all():
        return
    place: list[int] = (scores < 0).nonzero()[0].tolist()
    raise ValueError(
        f"{estimator} is defined for scores of at least 0, and rollout {place} (prompt, rollout) scores "
        f"{scores[tuple(place)].item():.6g}: add a constant to rewards and lower_bound so that none is"
    )
