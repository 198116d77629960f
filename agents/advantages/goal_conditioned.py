"""GRPO under the preference that the prompt asks for: diversity by asking, instead of by answering with a set.

A baseline of Bahlous-Boldi et al., arXiv 2605.22817. Conditioning on weights: Abels et al. 2019, arXiv 1809.07803.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.normalise import group_znorm


def goal_conditioned(batch: RewardBatch, *, generator: torch.Generator | None = None) -> Tensor:
    """(B, G): w . r of the rollout's only answer, standardised in each group; w are the group's own `prompt_weights`.

    Draws nothing: the weights must be known before the prompt is written.

    Raises:
        ValueError: more than one answer per rollout, or the batch has no `prompt_weights`.
    """
    if batch.prompt_weights is None:
        raise ValueError(
            "goal_conditioned needs the weights that each prompt asked for: draw them with sample_weights, write them "
            "into the prompts with Task.messages(problem, weights=...), and give RewardBatch(prompt_weights=...) (B, k)"
        )
    return group_znorm(batch.one_answer_scalars("goal_conditioned", batch.prompt_weights))
