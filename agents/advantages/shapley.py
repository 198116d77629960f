"""Shapley shares: how much each answer of a rollout adds to the best of them, on average over orders of arrival.

For one weight w, the game of the answers is v(S) = max over S of w . r, and v(empty) = w . lower bound. It is the
airport game (Littlechild and Owen 1973): with utilities in ascending order u_1 <= ... <= u_n and the lower bound's u_0,
the n - j + 1 answers from rank j on share the step u_j - u_(j-1) equally.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm


def shapley_shares(batch: RewardBatch, weights: Tensor) -> Tensor:
    """(B, G, m): Shapley value of each answer, averaged over the weights (B, K, k).

    The shares of a rollout sum to its set score (`vpo.set_score`) minus the mean of w . lower bound. An absent answer
    adds nothing to any set and has the share 0.
    """
    count = batch.rewards.shape[2]
    weights = weights.transpose(1, 2)[:, None]  # (B, 1, k, K)
    utilities = (batch.rewards @ weights).transpose(2, 3)  # (B, G, K, m)
    floor = (batch.lower_bound @ weights)[..., None]  # (B, 1, K, 1)
    answered = batch.answered[:, :, None, :]
    ascending, order = torch.where(answered, utilities, -torch.inf).sort(dim=-1)
    # Absent answers come first and stand on the floor: no step up to them, and none of the later steps is theirs.
    ascending = torch.where(ascending.isinf(), floor, ascending)
    steps = ascending.diff(dim=-1, prepend=floor.expand_as(ascending[..., :1]))
    sharing = torch.arange(count, 0, -1, dtype=steps.dtype, device=steps.device)
    shares = (steps / sharing).cumsum(dim=-1)
    return torch.empty_like(shares).scatter_(-1, order, shares).mean(dim=2)


def answer_advantages(set_scores: Tensor, shares: Tensor) -> Tensor:
    """Set scores (B, G) and shares (B, G, m) -> advantages (B, G, 1 + m), both standardised in their group.

    Index 0 is for the tokens outside of every answer (reasoning, and all of a response without an answer): the set
    score. Index j is for the tokens of answer j: its share among all G * m shares of the group. Absent answers count
    with their share of 0, so that a rollout's m shares, before the division, sum to its centred set score, and to
    repeat an answer pays as little as to add a useless one.
    """
    flat = group_znorm(shares.flatten(1)).view_as(shares)
    return torch.cat([group_znorm(set_scores)[..., None], flat], dim=-1)
