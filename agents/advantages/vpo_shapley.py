"""VPO with the credit split among a rollout's answers: each one's tokens get its Shapley share of the set's score.

The set score is that of Vector Policy Optimization (Bahlous-Boldi et al., arXiv 2605.22817); splitting it is ours.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.shapley import answer_advantages, shapley_shares
from agents.advantages.vpo import set_score
from agents.advantages.weights import Sampler, sample_weights


def vpo_shapley(
    batch: RewardBatch,
    *,
    num_weights: int = 100,
    alpha: float = 1.0,
    sampler: Sampler = "iid",
    generator: torch.Generator | None = None,
) -> Tensor:
    """(B, G, 1 + m): [..., 0] is `vpo` (for tokens outside of answers), [..., j] the standardised share of answer j.

    Args:
        batch: the rewards.
        num_weights: K weights for each group, shared by its rollouts and drawn anew in each call.
        alpha: concentration of their Dirichlet distribution; 1 is uniform on the simplex.
        sampler: "iid" or "sobol"; see `sample_weights`.
        generator: where the weights come from. Default: torch's global one.

    Raises:
        ValueError: an option is out of range.
    """
    weights = sample_weights(
        batch.objective_mask,
        num_weights,
        alpha=alpha,
        sampler=sampler,
        dtype=batch.rewards.dtype,
        generator=generator,
    )
    return answer_advantages(set_score(batch, weights), shapley_shares(batch, weights))
