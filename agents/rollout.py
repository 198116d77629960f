"""Problems -> prompts -> responses -> reward tensor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agents.advantages import RewardBatch
from agents.generation import Completion, Generator, Sampling
from agents.scoring import score_beside
from agents.token_credit import AnswerTokens

if TYPE_CHECKING:  # the learner takes rollouts, and needs no environment for that
    from agents.environment import Environment, GroupRewards
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
    seconds: dict[str, float] = field(default_factory=dict)
    """Where the time went: `generate` from the prompts to the last response, `score` the work of scoring, `score_wait`
    the part of it that came after the last response. The rest of `score` ran beside generation."""
    prompt_weights: Tensor | None = None
    """(B, k) the weights that the prompts ask for."""
    parts: list[list[list[int]]] | None = None
    """B x G x tokens: the number 1 ... m of the answer that a token belongs to, 0 for none; None where not wanted."""

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
    prompt_weights: Tensor | None = None,
    parts: bool = False,
) -> Rollouts:
    """Answer each problem `group_size` times, sampled with its seed, and score the responses.

    Responses of our own environments are scored while others are still generated. `prompt_weights` (B, k) are written
    into the prompts; `parts` tells which answer every token belongs to.
    """
    began = time.perf_counter()
    messages = environment.ask(problems, group_size, None if prompt_weights is None else prompt_weights.numpy())
    prompts = policy.encode_prompts(messages, prompt_tokens, sampling.max_tokens)

    def score(places: list[int], completions: list[list[Completion]]) -> GroupRewards:
        return environment.score([[policy.decode(c.token_ids) for c in group] for group in completions], places)

    scored = score_beside(generator.stream(prompts, group_size, sampling, seeds), score, beside=environment.is_ours)
    earned = scored.rewards
    return Rollouts(
        prompts=prompts,
        completions=scored.completions,
        answers=earned.answers,
        rewards=torch.from_numpy(earned.rewards),
        answered=torch.from_numpy(earned.answered),
        objective_mask=None if earned.objective_mask is None else torch.from_numpy(earned.objective_mask),
        seconds={
            "generate": scored.generation_ended - began,
            "score": scored.seconds,
            "score_wait": time.perf_counter() - scored.generation_ended,
        },
        prompt_weights=prompt_weights,
        parts=_parts(policy, environment, scored.completions) if parts else None,
    )


def _parts(
    policy: Policy, environment: Environment, completions: Sequence[Sequence[Completion]]
) -> list[list[list[int]]]:
    answer_tokens = AnswerTokens(policy.decode)

    def of(completion: Completion) -> list[int]:
        text = policy.decode(completion.token_ids)
        return answer_tokens.parts(completion.token_ids, text, environment.answer_spans(text))

    return [[of(completion) for completion in group] for group in completions]


def together(parts: Sequence[tuple[Sequence[int], Rollouts]]) -> Rollouts:
    """The rollouts of a step from those of every process, each with the places of its prompts in the step.

    The seconds are those of the slowest process.
    """
    if len(parts) == 1:
        return parts[0][1]
    places = [place for own, _ in parts for place in own]
    order = sorted(range(len(places)), key=places.__getitem__)
    each = [rollouts for _, rollouts in parts]
    prompts = [p for r in each for p in r.prompts]
    completions = [c for r in each for c in r.completions]
    answers = [a for r in each for a in r.answers]
    masks = [r.objective_mask for r in each if r.objective_mask is not None]
    weights = [r.prompt_weights for r in each if r.prompt_weights is not None]
    parts_of = [group for r in each for group in r.parts or ()]
    return Rollouts(
        prompts=[prompts[i] for i in order],
        completions=[completions[i] for i in order],
        answers=[answers[i] for i in order],
        rewards=torch.cat([r.rewards for r in each])[order],
        answered=torch.cat([r.answered for r in each])[order],
        objective_mask=torch.cat(masks)[order] if masks else None,
        seconds={name: max(r.seconds[name] for r in each) for name in each[0].seconds},
        prompt_weights=torch.cat(weights)[order] if weights else None,
        parts=[parts_of[i] for i in order] if parts_of else None,
    )


def reward_batch(rollouts: Rollouts, environment: Environment) -> RewardBatch:
    """What the advantage estimators see of these rollouts."""
    return RewardBatch(
        rollouts.rewards,
        answered=rollouts.answered,
        objective_mask=rollouts.objective_mask,
        reference_weights=torch.from_numpy(environment.reference_weights),
        lower_bound=torch.from_numpy(environment.lower_bound),
        prompt_weights=rollouts.prompt_weights,
    )
