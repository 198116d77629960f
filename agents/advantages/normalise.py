"""Statistics over the rollouts of a group, as every estimator uses them."""

from __future__ import annotations

import torch
from torch import Tensor

EPSILON = 1e-6
"""Smallest population standard deviation of a group that says anything, and what is added to it when dividing."""


def alike(scores: Tensor) -> Tensor:
    """(..., 1) bool: groups of scores (..., G) that do not differ, which every estimator leaves without an advantage.

    Their population std is below 1e-6, or below 8 units in the last place of the largest score where that is more
    (float32: scores beyond +-1.05): what is left is rounding, and dividing by it would only amplify it.
    """
    return _std(_centered(scores)) < _resolution(scores)


def group_center(scores: Tensor) -> Tensor:
    """(..., G) scores minus the mean of their group; zeros for a group whose scores are `alike`."""
    return torch.where(alike(scores), 0.0, _centered(scores))


def group_znorm(scores: Tensor) -> Tensor:
    """(..., G) scores -> (x - mean) / (std + 1e-6) in each group, population std (GRPO, Shao et al. 2024).

    A group whose scores are `alike` gets zeros.
    """
    centered = _centered(scores)
    std = _std(centered)
    return torch.where(std < _resolution(scores), 0.0, centered / (std + EPSILON))


def _centered(scores: Tensor) -> Tensor:
    return scores - scores.mean(dim=-1, keepdim=True)


def _std(centered: Tensor) -> Tensor:
    return centered.square().mean(dim=-1, keepdim=True).sqrt()


def _resolution(scores: Tensor) -> Tensor:
    rounding = 8 * torch.finfo(scores.dtype).eps * scores.abs().amax(dim=-1, keepdim=True)
    return rounding.clamp(min=EPSILON)
