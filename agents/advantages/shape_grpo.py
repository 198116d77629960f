"""Set-level GRPO with the credit split among a rollout's answers by their Shapley shares, under the reference weights.

ShapE-GRPO, Ai et al. 2026, arXiv 2603.29871, for sets that are worth their best answer. What is ours: standardising the
shares over all answers of a group, and the set's score for tokens outside of answers.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.shapley import answer_advantages, shapley_shares
from agents.advantages.vpo import set_score


def shape_grpo(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G, 1 + m): [..., 0] is the best s = w* . r of the set (for tokens outside of answers), [..., j] answer j's
    Shapley share of it, both standardised in the group. Draws nothing.
    """
    weights = batch.reference_weights[:, None, :]
    return answer_advantages(set_score(batch, weights), shapley_shares(batch, weights))
