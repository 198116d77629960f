"""The estimators written once more from their formulas: plain loops over Python floats, one thing at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import torch
from torch import Tensor

from agents.advantages import RewardBatch

Answer = list[float]  # its rewards, one per real objective
Group = list[list[Answer]]  # rollouts, each with the answers that it gave


def random_arguments(seed: int, b: int = 5, g: int = 6, m: int = 3, k: int = 4) -> dict[str, Any]:
    """Arguments of a RewardBatch with everything in it: masks, absent answers, silent rollouts, odd weights."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator, dtype=torch.float64)

    mask = uniform(b, k) < 0.7
    mask[:, seed % k] = True
    return {
        "rewards": uniform(b, g, m, k),
        "answered": uniform(b, g, m) < 0.6,
        "objective_mask": mask,
        "reference_weights": 0.1 + uniform(k),
        "lower_bound": -uniform(k),
        "prompt_weights": 0.1 + uniform(b, k),
    }


def groups(arguments: dict[str, Any]) -> list[Group]:
    """The answers that were given, without the masked objectives; a silent rollout has the lower bound."""
    rewards, answered, mask = (arguments[n].tolist() for n in ("rewards", "answered", "objective_mask"))
    bound = arguments["lower_bound"].tolist()
    result: list[Group] = []
    for group, group_answered, real in zip(rewards, answered, mask, strict=True):
        rollouts: Group = []
        for rollout, given in zip(group, group_answered, strict=True):
            answers = [answer for answer, is_given in zip(rollout, given, strict=True) if is_given] or [bound]
            rollouts.append([[value for value, is_real in zip(a, real, strict=True) if is_real] for a in answers])
        result.append(rollouts)
    return result


def reference_weights(arguments: dict[str, Any]) -> list[list[float]]:
    """w* over the real objectives of each group."""
    return real_weights([arguments["reference_weights"].tolist()] * len(arguments["rewards"]), arguments)


def real_weights(weights: list[list[float]], arguments: dict[str, Any]) -> list[list[float]]:
    """Weights of each group over its real objectives."""
    result = []
    for row, real in zip(weights, arguments["objective_mask"].tolist(), strict=True):
        kept = [w for w, is_real in zip(row, real, strict=True) if is_real]
        result.append([w / sum(kept) for w in kept])
    return result


def dot(weights: list[float], answer: Answer) -> float:
    return sum(w * r for w, r in zip(weights, answer, strict=True))


def znorm(scores: list[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    std = math.sqrt(sum((x - mean) ** 2 for x in scores) / len(scores))
    return [0.0 if std < 1e-6 else (x - mean) / (std + 1e-6) for x in scores]


def vpo(arguments: dict[str, Any], weights: Tensor) -> Tensor:
    """(B, G), under the weights (B, K, k) that were drawn."""
    advantages = []
    for i, group in enumerate(groups(arguments)):
        real = arguments["objective_mask"][i].tolist()
        drawn = [[w for w, is_real in zip(row, real, strict=True) if is_real] for row in weights[i].tolist()]
        scores = [sum(max(dot(w, a) for a in rollout) for w in drawn) / len(drawn) for rollout in group]
        advantages.append(znorm(scores))
    return torch.tensor(advantages, dtype=torch.float64)


def of_scalars(arguments: dict[str, Any], advantages: Callable[[list[float]], list[float]]) -> Tensor:
    """(B, G): a function of the scores w* . r of the only answers of a group."""
    scores = [
        [dot(w, rollout[0]) for rollout in group]
        for group, w in zip(groups(arguments), reference_weights(arguments), strict=True)
    ]
    return torch.tensor([advantages(group) for group in scores], dtype=torch.float64)


def grpo(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    return of_scalars(arguments, znorm)


def dr_grpo(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    return of_scalars(arguments, lambda scores: [x - mean(scores) for x in scores])


def maxrl(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    return of_scalars(arguments, lambda scores: [(x - mean(scores)) / (mean(scores) + 1e-6) for x in scores])


def under_weights(arguments: dict[str, Any], weights: list[list[float]]) -> Tensor:
    """(B, G): `random_weight` and `goal_conditioned`, given the weights (B, k) of the groups."""
    advantages = [
        znorm([dot(w, rollout[0]) for rollout in group])
        for group, w in zip(groups(arguments), real_weights(weights, arguments), strict=True)
    ]
    return torch.tensor(advantages, dtype=torch.float64)


def gdpo(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    combined = []
    for group, w in zip(groups(arguments), reference_weights(arguments), strict=True):
        objectives = [znorm([rollout[0][j] for rollout in group]) for j in range(len(w))]
        combined.append([dot(w, list(zs)) for zs in zip(*objectives, strict=True)])
    everything = [x for group in combined for x in group]
    flat = znorm(everything)
    size = len(combined[0])
    return torch.tensor(flat, dtype=torch.float64).view(-1, size)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def subsets_with(i: int, group: int, k: int) -> list[tuple[int, ...]]:
    return [s for s in combinations(range(group), k) if i in s]


def subsets_without(left_out: set[int], group: int, k: int) -> list[tuple[int, ...]]:
    return [s for s in combinations(range(group), k) if not left_out & set(s)]


def max_at_k(scores: list[float], k: int) -> list[float]:
    """Every subset of the group, with the rollout and without it."""
    group = range(len(scores))

    def mean_best(subsets: list[tuple[int, ...]]) -> float:
        return mean([max(scores[j] for j in subset) for subset in subsets])

    return [
        k * (mean_best(subsets_with(i, len(scores), k)) - mean_best(subsets_without({i}, len(scores), k)))
        for i in group
    ]


def gain(scores: list[float], i: int, k: int, left_out: set[int]) -> float:
    """Mean over the k-subsets with i, and without some others, of (their best - their best without i)."""
    gains = []
    for subset in subsets_without(left_out, len(scores), k):
        if i in subset:
            others = [scores[j] for j in subset if j != i]
            gains.append(max(0.0, scores[i] - max(others)) if others else scores[i])
    return mean(gains)


def pass_at_k(scores: list[float], k: int) -> list[float]:
    """PKPO's s_loo-1."""
    if k == 1:
        total = sum(scores)
        return [x - (total - x) / (len(scores) - 1) for x in scores]
    return [k * gain(scores, i, k, set()) for i in range(len(scores))]


def maxpo(scores: list[float], k: int) -> list[float]:
    """The gain minus the leave-two-out baseline: gains of the others over subsets that leave out i as well."""
    group = range(len(scores))
    return [k * (gain(scores, i, k, set()) - mean([gain(scores, j, k, {i}) for j in group if j != i])) for i in group]


def poly(vectors: list[Answer], scores: list[float], k: int) -> list[float]:
    """Every set scored as mean reward times distinct vectors / k."""
    size = len(scores)
    score = {
        s: mean([scores[j] for j in s]) * len({tuple(vectors[j]) for j in s}) / k for s in combinations(range(size), k)
    }
    baseline = mean(list(score.values()))
    return [
        k * size / (size - k) * (mean([score[s] for s in subsets_with(i, size, k)]) - baseline) for i in range(size)
    ]


def shapley(utilities: list[float | None], floor: float) -> list[float]:
    """Average over all orders of arrival of what an answer adds to the best so far; None is an absent answer."""
    shares = [0.0] * len(utilities)
    orders = list(permutations(range(len(utilities))))
    for order in orders:
        arrived: list[float] = []
        for answer in order:
            before = max(arrived) if arrived else floor
            if (utility := utilities[answer]) is not None:
                arrived.append(utility)
            shares[answer] += (max(arrived) if arrived else floor) - before
    return [share / len(orders) for share in shares]


def shapley_shares(arguments: dict[str, Any], weights: Tensor) -> Tensor:
    """(B, G, m), under the weights (B, K, k)."""
    rewards, answered = arguments["rewards"].tolist(), arguments["answered"].tolist()
    masked = (weights * arguments["objective_mask"][:, None]).tolist()
    floor = arguments["lower_bound"].tolist()
    result = []
    for group, group_answered, drawn in zip(rewards, answered, masked, strict=True):
        for rollout, given in zip(group, group_answered, strict=True):
            games = [
                shapley([dot(w, a) if g else None for a, g in zip(rollout, given, strict=True)], dot(w, floor))
                for w in drawn
            ]
            result.append([mean(list(shares)) for shares in zip(*games, strict=True)])
    return torch.tensor(result, dtype=torch.float64).view(arguments["answered"].shape)


def multi_rlvr(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    advantages = []
    for group, w in zip(groups(arguments), reference_weights(arguments), strict=True):
        advantages.append(znorm([sum(dot(w, a) for a in rollout) for rollout in group]))
    return torch.tensor(advantages, dtype=torch.float64)


def best_of_set(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    advantages = []
    for group, w in zip(groups(arguments), reference_weights(arguments), strict=True):
        advantages.append(znorm([max(dot(w, a) for a in rollout) for rollout in group]))
    return torch.tensor(advantages, dtype=torch.float64)


def to_batch(arguments: dict[str, Any], **changes: Any) -> RewardBatch:
    return RewardBatch(**{**arguments, **changes})
