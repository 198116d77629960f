"""Group reward-Decoupled normalisation Policy Optimization: every objective is standardised before they are added.

Liu et al. 2026, arXiv 2601.05242: an objective that varies little in a group counts as much as one that varies a lot.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import EPSILON, group_znorm


def gdpo(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): sum over objectives of w* times the objective's z-score in the group, divided by its std in the batch.

    Both stds are population stds (the authors' code divides by n - 1 and adds 1e-4), the second one over all B * G
    rollouts. Objectives that a prompt does not have, or that are the same in all of its rollouts, add 0. Draws nothing.

    Raises:
        ValueError: more than one answer per rollout.
    """
    objectives = group_znorm(batch.one_answer_rewards("gdpo").transpose(1, 2))  # (B, k, G)
    advantages = (batch.reference_weights[:, None, :] @ objectives).squeeze(1)  # (B, G)
    # The paper subtracts the batch's mean first. It is 0 already, as the mean of each objective in each group is.
    std = advantages.square().mean().sqrt()
    return torch.where(std < EPSILON, 0.0, advantages / (std + EPSILON))
