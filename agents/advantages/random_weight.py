"""One random preference for each group and step: the ablation of VPO that has its weights but no answer sets.

Bahlous-Boldi et al., arXiv 2605.22817. The preference changes from step to step and the prompt does not tell it: what
is learnt is an average over preferences.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm
from agents.advantages.weights import sample_weights


def random_weight(batch: RewardBatch, *, alpha: float = 1.0, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): w . r of the rollout's only answer, standardised in each group; one w ~ Dirichlet(alpha) for each group.

    Args:
        batch: rewards with m = 1.
        alpha: concentration > 0; 1 is uniform on the simplex, smaller is nearer the corners.
        generator: where the weights come from. Default: torch's global one.

    Raises:
        ValueError: more than one answer per rollout, or alpha is out of range.
    """
    weights = sample_weights(batch.objective_mask, 1, alpha=alpha, dtype=batch.rewards.dtype, generator=generator)
    return group_znorm(batch.one_answer_scalars("random_weight", weights.squeeze(1)))
