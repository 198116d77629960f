"""The two terms of the objective, token by token: PPO's clipped surrogate and the KL divergence to the reference."""

from __future__ import annotations

import torch
from torch import Tensor


def policy_loss(
    logp: Tensor, old_logp: Tensor, advantage: Tensor, clip_low: float, clip_high: float, dual_clip: float
) -> tuple[Tensor, Tensor]:
    """Per-token loss (tokens,) and whether the clip was active (tokens,).

    Clipped surrogate of Schulman et al. 2017 (arXiv 1707.06347) with the dual clip of Ye et al. 2020 (arXiv
    1912.09729): for a negative advantage the loss is at most `dual_clip * |advantage|`.
    """
    ratio = (logp - old_logp).exp()
    plain = -advantage * ratio
    clipped = -advantage * ratio.clamp(1 - clip_low, 1 + clip_high)
    loss = torch.maximum(plain, clipped)
    bounded = torch.minimum(loss, -advantage * dual_clip)
    return torch.where(advantage < 0, bounded, loss), clipped > plain


def kl_estimate(logp: Tensor, ref_logp: Tensor) -> Tensor:
    """Per-token estimate (tokens,) of KL(policy || reference): exp(d) - d - 1 with d = log p_ref - log p.

    Unbiased, non-negative and of low variance: Schulman 2020, "Approximating KL divergence" (k3).
    """
    d = ref_logp - logp
    return d.expm1() - d  # exp(d) - 1 would lose a small d, and the sign with it, to rounding
