"""What a training step reports: everything but timings is a function of the run's configuration and the step."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages import RewardBatch
from agents.advantages.vpo import vpo_score
from agents.rollout import Rollouts
from vpo_envs.metrics import diversity


def rollout_metrics(
    rollouts: Rollouts, batch: RewardBatch, advantages: Tensor, objectives: list[str]
) -> dict[str, float]:
    """Means over the rollouts of a step.

    `score/answer`: reference scalar of an answer, absent ones at the lower bound;
    `score/best_of_set`: best answer of a rollout; `score/best_of_group`: best answer of all G x m;
    `score/expected_best_of_set`: best answer of a rollout under random weights, on average (the paper's objective);
    `reward/<objective>`: mean over answers to the problems that have it; `diversity/group`: mean L1 distance between
    the reward vectors of two given answers of a group; `group/zero_advantage`: share of groups that give no gradient.
    """
    # An absent answer is worth the lower bound: silence must not look better than a bad answer.
    scalars = torch.where(batch.answered, batch.scalars(), batch.silent_scalar()[..., None])  # (B, G, m)
    rewards = batch.rewards  # (B, G, m, k)
    b, g, m, k = rewards.shape
    completions = [c for group in rollouts.completions for c in group]
    metrics = {
        "score/answer": scalars.mean(),
        "score/best_of_set": scalars.amax(-1).mean(),
        "score/best_of_group": scalars.flatten(1).amax(-1).mean(),
        "score/expected_best_of_set": vpo_score(batch, generator=torch.Generator().manual_seed(0)).mean(),
        "answered": batch.answered.float().mean(),
        "group/zero_advantage": (advantages.reshape(b, -1).abs().amax(-1) == 0).float().mean(),
        "response/tokens": sum(len(c.token_ids) for c in completions) / len(completions),
        "response/truncated": sum(c.finish_reason == "length" for c in completions) / len(completions),
        "diversity/group": _diversity(rewards.reshape(b, g * m, k), batch.answered.reshape(b, g * m)),
    }
    for i, name in enumerate(objectives):
        if (real := batch.objective_mask[:, i]).any():
            metrics[f"reward/{name}"] = rewards[real, ..., i].mean()
    return {name: float(torch.as_tensor(value)) for name, value in metrics.items()}


def _diversity(rewards: Tensor, answered: Tensor) -> float:
    """Mean over groups of the mean L1 distance between two answers that were given; 0 for a group with fewer."""
    distances = [
        diversity(r[a].cpu().numpy()) if int(a.sum()) > 1 else 0.0 for r, a in zip(rewards, answered, strict=True)
    ]
    return float(sum(map(float, distances)) / len(distances))
