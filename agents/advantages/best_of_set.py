"""VPO without random weights: a rollout is worth its best answer under the reference weights.

An ablation of Vector Policy Optimization (arXiv 2605.22817) that keeps the sets and drops the preferences. `multi_rlvr`
differs from it in the sum: there every good answer of a set pays, here only the best one.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm
from agents.advantages.vpo import set_score


def best_of_set(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): maximum over the rollout's answers of w* . r, standardised in each group. Draws nothing."""
    return group_znorm(set_score(batch, batch.reference_weights[:, None, :]))
