"""Multi-answer RLVR: a rollout is worth the sum of its answers, under the reference weights.

The baseline with VPO's answer sets but without its preferences (Bahlous-Boldi et al., arXiv 2605.22817).
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm


def multi_rlvr(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): `multi_rlvr_score`, standardised in each group. Draws nothing."""
    return group_znorm(multi_rlvr_score(batch))


def multi_rlvr_score(batch: RewardBatch) -> Tensor:
    """(B, G): sum over the rollout's answers of w* . r, the lower bound where it gave none.

    Repeated answers are not `answered`, so each distinct one counts once.
    """
    return torch.where(batch.silent, batch.silent_scalar(), batch.scalars().sum(dim=-1))
