"""Cutting rollouts into passes: every rollout once, no pass beyond the limits, little padding."""

from __future__ import annotations

from random import Random

import pytest
import torch

from agents.generation import Completion
from agents.micro_batches import Limits, MicroBatch, micro_batches
from agents.rollout import Rollouts


def rollouts(prompts: int, group: int, seed: int = 0) -> Rollouts:
    """Prompts of 1 to 20 tokens, responses of 1 to 30."""
    rng = Random(seed)
    asked = [[rng.randrange(5, 50)] * rng.randint(1, 20) for _ in range(prompts)]
    completions = [
        [Completion([7] * length, [-1.0] * length, "stop") for length in (rng.randint(1, 30) for _ in range(group))]
        for _ in range(prompts)
    ]
    none = torch.zeros(0)
    return Rollouts(asked, completions, [], none, none, None)


def cut(data: Rollouts, limits: Limits, prompts: range) -> list[MicroBatch]:
    return list(micro_batches(data, prompts, limits, torch.device("cpu")))


@pytest.mark.parametrize(
    "limits", [Limits(1), Limits(5), Limits(1000), Limits(1000, 100), Limits(3, 100), Limits(8, 1)]
)
def test_every_rollout_of_the_prompts_is_in_one_pass(limits: Limits) -> None:
    data = rollouts(prompts=9, group=4)
    passes = cut(data, limits, range(2, 7))
    assert sorted(bg for micro in passes for bg in micro.where) == [(b, g) for b in range(2, 7) for g in range(4)]
    for micro in passes:
        assert micro.completions == [data.completions[b][g] for b, g in micro.where]
        assert int(micro.sequences.response.sum()) == sum(len(c.token_ids) for c in micro.completions)
        assert len(micro.where) <= limits.rollouts
        assert limits.tokens is None or micro.sequences.ids.numel() <= limits.tokens or len(micro.where) == 1


def test_passes_are_as_large_as_allowed() -> None:
    """One more rollout, the next longest, would be beyond the limit of tokens."""
    passes = cut(rollouts(prompts=9, group=4), Limits(1000, 200), range(9))
    assert len(passes) > 3
    for micro in passes[:-1]:
        rows, longest = micro.sequences.ids.shape
        assert (rows + 1) * longest > 200


def test_the_longest_come_first_and_similar_ones_together() -> None:
    data = rollouts(prompts=9, group=4)
    passes = cut(data, Limits(4), range(9))
    lengths = [[len(data.prompts[b]) + len(data.completions[b][g].token_ids) for b, g in m.where] for m in passes]
    flat = [length for micro in lengths for length in micro]
    assert flat == sorted(flat, reverse=True)


def test_halving() -> None:
    assert Limits(8, 1000).halved() == Limits(4, 500)
    assert Limits(1, None).halved() == Limits(1, None)
    assert str(Limits(4)) == "micro-batches of at most 4 rollouts"
    assert str(Limits(4, 500)) == "micro-batches of at most 4 rollouts and 500 tokens"
