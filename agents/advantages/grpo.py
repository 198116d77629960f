"""Group Relative Policy Optimization: one answer per rollout, scalarized with the reference weights.

Shao et al. 2024, arXiv 2402.03300.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm


def grpo(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): `grpo_score`, standardised in each group. Draws nothing."""
    return group_znorm(grpo_score(batch))


def grpo_score(batch: RewardBatch) -> Tensor:
    """(B, G): w* . r of the rollout's answer, the lower bound where it gave none. ValueError unless m = 1."""
    return batch.one_answer_scalars("grpo")
