"""GRPO without its division by the standard deviation: one answer per rollout, only centred.

"GRPO done right", Liu et al. 2025, arXiv 2503.20783. Its other change, how token losses are averaged, is the learner's.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_center


def dr_grpo(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): s - mean of s in the group, with s = w* . r of the rollout's only answer. Draws nothing.

    Raises:
        ValueError: more than one answer per rollout.
    """
    return group_center(batch.one_answer_scalars("dr_grpo"))
