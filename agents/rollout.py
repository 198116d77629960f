"""Problems -> prompts -> responses -> reward tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from agents.advantages import RewardBatch
from agents.environment import Environment
from agents.generation import Completion, Generator, Sampling
from agents.policy import Policy


@dataclass(frozen=True)
class Rollouts:
    """G responses to each of B prompts, and what they earned."""

    prompts: list[list[int]]
    """B prompts as token ids."""
    completions: list[list[Completion]]
    """B x G."""
    answers: list[list[list[str | None]]]
    """B x G x m, None where absent."""
    rewards: Tensor
    """(B, G, m, k) float32."""
    answered: Tensor
    """(B, G, m) bool."""
    objective_mask: Tensor | None
    """(B, k) bool."""

    @property
    def generated_tokens(self) -> int:
        return sum(len(c.token_ids) for group in self.completions for c in group)


def collect(
    policy: Policy,
    generator: Generator,
    environment: Environment,
    problems: Sequence[int],
    group_size: int,
    sampling: Sampling,
    seeds: Sequence[int],
    prompt_tokens: int,
) -> Rollouts:
    """Answer each problem `group_size` times, sampled with its seed, and score the responses."""
    messages = environment.ask(problems, group_size)
    prompts = policy.encode_prompts(messages, prompt_tokens, sampling.max_tokens)
    completions = generator.generate(prompts, group_size, sampling, seeds)
    responses = [[policy.decode(c.token_ids) for c in group] for group in completions]
    scored = environment.score(responses)
    return Rollouts(
        prompts=prompts,
        completions=completions,
        answers=scored.answers,
        rewards=torch.from_numpy(scored.rewards),
        answered=torch.from_numpy(scored.answered),
        objective_mask=None if scored.objective_mask is None else torch.from_numpy(scored.objective_mask),
    )


def reward_batch(rollouts: Rollouts, environment: Environment) -> RewardBatch:
    """What the advantage estimators see of these rollouts."""
    return RewardBatch(
        rollouts.rewards,
        answered=rollouts.answered,
        objective_mask=rollouts.objective_mask,
        reference_weights=torch.from_numpy(environment.reference_weights),
        lower_bound=torch.from_numpy(environment.lower_bound),
    )
