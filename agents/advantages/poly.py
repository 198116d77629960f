"""Poly-EPO's set credit: a rollout is worth what k rollouts with it earn on average, times how diverse they are.

Orney et al. 2026, arXiv 2604.17654. The paper's: a set scores (mean reward) * (distinct strategies / k), and a rollout
gets the mean over the k-subsets that contain it minus the mean over all. Ours: a strategy is a reward vector, where the
paper lets a language model judge the reasoning, so answers that reach the same trade-off are one strategy.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.maxrl import check_not_negative
from agents.advantages.normalise import EPSILON, group_center
from agents.advantages.subsets import check_subset_size


def poly(batch: RewardBatch, *, k: int = 4, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): the centred mean set score of the k-subsets that contain the rollout, times k G / (G - k).

    A set scores (mean of s = w* . r) * (distinct reward vectors / k), vectors taken to six decimals. The factor makes
    the average over rollouts of advantage times score function the unbiased gradient of the expected set score. Where
    all vectors differ, this is the leave-one-out mean. Draws nothing.

    Args:
        batch: rewards with m = 1.
        k: size of the sets; k = 1 is the leave-one-out mean. The paper has 4 of 8.

    Raises:
        ValueError: more than one answer per rollout, k is not in 1 ... G - 1, or a score is negative.
    """
    scores = batch.one_answer_scalars("poly")
    group = scores.shape[1]
    check_subset_size("poly", k, group, largest=group - 1)
    check_not_negative("poly", scores)
    vectors = (batch.one_answer_rewards("poly") / EPSILON).round()
    same = (vectors[:, :, None] == vectors[:, None, :]).all(dim=-1)  # (B, G, G)
    return k * group / (group - k) * group_center(_mean_set_score(scores, same, k))


def _mean_set_score(scores: Tensor, same: Tensor, k: int) -> Tensor:
    """(B, G): mean over the k-subsets S that contain i of (mean score in S) * (distinct vectors in S) / k.

    E[sum of scores * distinct] is a sum over members a of s_a P(a in S | i in S) E[distinct | a and i in S], and the
    number of distinct vectors is a sum over vectors of the probability that S has one of the z rollouts with it.
    """
    group = scores.shape[1]
    size = same.sum(dim=-1)  # (B, G): rollouts with the same vector, itself included

    def missed(given: int) -> Tensor:
        """(B, G): probability that S misses all z rollouts of a vector, if `given` others are in it."""
        among, drawn = group - given, k - given
        ratios = [math.comb(max(among - z, 0), drawn) / math.comb(among, drawn) for z in range(group + 1)]
        return scores.new_tensor(ratios)[size]

    def expected_distinct(miss: Tensor) -> Tensor:
        """(B, 1): sum over vectors of 1 - missed; too low by `missed` for each vector that a given member has."""
        return ((1 - miss) / size).sum(dim=-1, keepdim=True)

    miss = missed(given=1)
    total = scores * (expected_distinct(miss) + miss)  # a = i
    if k > 1:
        miss = missed(given=2)
        others = scores.sum(dim=-1, keepdim=True) - scores
        both = others * (expected_distinct(miss) + miss)
        both = both + (~same).to(scores.dtype).matmul((scores * miss)[:, :, None]).squeeze(-1)  # a's, if it is another
        total = total + (k - 1) / (group - 1) * both
    return total / k**2
