"""The estimators written once more from their formulas: plain loops over Python floats, one thing at a time."""

from __future__ import annotations

import math
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
    result = []
    for real in arguments["objective_mask"].tolist():
        kept = [w for w, is_real in zip(arguments["reference_weights"].tolist(), real, strict=True) if is_real]
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


def grpo(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    advantages = []
    for group, w in zip(groups(arguments), reference_weights(arguments), strict=True):
        advantages.append(znorm([dot(w, rollout[0]) for rollout in group]))
    return torch.tensor(advantages, dtype=torch.float64)


def multi_rlvr(arguments: dict[str, Any]) -> Tensor:
    """(B, G)."""
    advantages = []
    for group, w in zip(groups(arguments), reference_weights(arguments), strict=True):
        advantages.append(znorm([sum(dot(w, a) for a in rollout) for rollout in group]))
    return torch.tensor(advantages, dtype=torch.float64)


def to_batch(arguments: dict[str, Any], **changes: Any) -> RewardBatch:
    return RewardBatch(**{**arguments, **changes})
