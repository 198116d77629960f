"""What a rollout adds to the best of k: averages over all k-subsets of a group, in closed form.

Let the scores of a group be sorted, s_1 <= ... <= s_G. The best of a subset S is s_1 plus all gaps s_j - s_(j-1) up to
its own rank, so its mean over subsets is s_1 + sum_j (s_j - s_(j-1)) P(S reaches rank j), and those probabilities are
ratios of binomial coefficients. Differences of such means are sums of gaps, which are not negative: nothing cancels,
equal scores get equal advantages whatever their order, and a constant added to the scores drops out.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from agents.advantages.normalise import alike


def with_minus_without(scores: Tensor, k: int) -> Tensor:
    """(B, G): mean best of the k-subsets that contain the rollout minus mean best of those that do not; 1 <= k < G.

    For the rollout of rank i and a gap below rank j: if j <= i, every subset with it reaches rank j, and one without it
    misses it with probability C(j-1, k) / C(G-1, k). If j > i, one with it misses rank j with probability
    C(j-2, k-1) / C(G-1, k-1), and one without it with probability C(j-2, k) / C(G-1, k), which is smaller.
    """
    group = scores.shape[-1]
    won = [math.comb(j - 1, k) / math.comb(group - 1, k) for j in range(1, group + 1)]
    # The difference of the two ratios for j > i, as one ratio of integers.
    lost = [0.0] + [
        math.comb(j - 2, k - 1) * (group - j + 1) / (math.comb(group - 1, k - 1) * (group - k))
        for j in range(2, group + 1)
    ]
    gaps, order = _gaps(scores)
    gain = (gaps * gaps.new_tensor(won)).cumsum(dim=-1)
    loss = (gaps * gaps.new_tensor(lost)).flip(-1).cumsum(dim=-1).flip(-1)  # of the gaps from rank i on, i included
    loss = torch.cat([loss[:, 1:], torch.zeros_like(loss[:, :1])], dim=-1)
    return _by_rollout(gain - loss, order, scores)


def gain_over_the_others(scores: Tensor, k: int) -> Tensor:
    """(B, G): mean over the k-subsets that contain the rollout of (their best - best without it); 2 <= k <= G.

    A gap below rank j <= i counts where the k - 1 others all rank below j: with probability C(j-1, k-1) / C(G-1, k-1).
    """
    group = scores.shape[-1]
    share = [math.comb(j - 1, k - 1) / math.comb(group - 1, k - 1) for j in range(1, group + 1)]
    gaps, order = _gaps(scores)
    return _by_rollout((gaps * gaps.new_tensor(share)).cumsum(dim=-1), order, scores)


def check_subset_size(estimator: str, k: int, group: int, largest: int) -> None:
    """ValueError unless 1 <= k <= `largest`, which depends on the G rollouts of a group."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise ValueError(f"{estimator}: k must be a whole number of at least 1, not {k!r}")
    if k > largest:
        raise ValueError(
            f"{estimator} with k={k} needs groups of at least {k + group - largest} rollouts and got {group}: "
            f"lower k to {largest} or sample more rollouts for a prompt"
            if largest >= 1
            else f"{estimator} compares the rollouts of a group and got {group}: sample more rollouts for a prompt"
        )


def _gaps(scores: Tensor) -> tuple[Tensor, Tensor]:
    """(B, G) differences between neighbours in ascending order, 0 for the lowest; and the order."""
    ascending, order = scores.sort(dim=-1)
    return ascending.diff(dim=-1, prepend=ascending[:, :1]), order


def _by_rollout(by_rank: Tensor, order: Tensor, scores: Tensor) -> Tensor:
    """Back from ranks to rollouts; zeros for groups whose scores are alike."""
    return torch.where(alike(scores), 0.0, torch.empty_like(by_rank).scatter_(-1, order, by_rank))
