"""Statistics over the rollouts of a group, as every estimator uses them."""

from __future__ import annotations

import torch
from torch import Tensor

EPSILON = 1e-6
"""Smallest population standard deviation of a group that says anything, and what is added to it when dividing."""


def group_center(scores: Tensor) -> Tensor:
    """(B, G) scores minus the mean of their group."""
    return scores - scores.mean(dim=-1, keepdim=True)


def group_znorm(scores: Tensor) -> Tensor:
    """(B, G) scores -> (x - mean) / (std + 1e-6) in each group, population std (GRPO, Shao et al. 2024).

    A group whose std is below 1e-6 gets zeros: its rollouts are alike, and dividing would only amplify rounding. For
    the same reason the threshold rises to 8 units in the last place of the largest score where that is more
    (float32: scores beyond +-1.05).
    """
    centered = group_center(scores)
    std = centered.square().mean(dim=-1, keepdim=True).sqrt()
    resolution = 8 * torch.finfo(scores.dtype).eps * scores.abs().amax(dim=-1, keepdim=True)
    return torch.where(std < resolution.clamp(min=EPSILON), 0.0, centered / (std + EPSILON))
