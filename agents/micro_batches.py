"""Cutting the rollouts of an update into forward and backward passes that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from agents.generation import Completion
from agents.logprobs import Sequences, pad_sequences
from agents.rollout import Rollouts


@dataclass(frozen=True)
class Limits:
    """The largest pass."""

    rollouts: int
    tokens: int | None = None
    """Prompts, responses and padding together."""

    def __str__(self) -> str:
        tokens = "" if self.tokens is None else f" and {self.tokens} tokens"
        return f"micro-batches of at most {self.rollouts} rollouts{tokens}"

    def halved(self) -> Limits:
        return Limits(max(1, self.rollouts // 2), None if self.tokens is None else max(1, self.tokens // 2))


@dataclass(frozen=True)
class MicroBatch:
    """n rollouts of one pass."""

    where: list[tuple[int, int]]
    """Prompt and place in its group, n of them."""
    completions: list[Completion]
    sequences: Sequences


def one_token(rollouts: Rollouts, device: torch.device) -> Sequences:
    """The smallest pass: one prompt token and a response of one token."""
    token = rollouts.prompts[0][:1]
    return pad_sequences([token], [Completion(token, [0.0], "stop")], device)


def micro_batches(
    rollouts: Rollouts, prompts: Sequence[int], limits: Limits, device: torch.device
) -> Iterator[MicroBatch]:
    """The rollouts of some prompts, those of similar length together, so that little is padding.

    The longest come first: a pass that does not fit into memory fails before others were computed in vain. A rollout
    that alone is beyond the limit has a pass of its own.
    """
    where = [(b, g) for b in prompts for g in range(len(rollouts.completions[b]))]
    lengths = {(b, g): len(rollouts.prompts[b]) + len(rollouts.completions[b][g].token_ids) for b, g in where}
    where.sort(key=lambda bg: lengths[bg], reverse=True)
    first = 0
    while first < len(where):
        size = limits.rollouts
        if limits.tokens is not None:
            size = max(1, min(size, limits.tokens // lengths[where[first]]))
        part = where[first : first + size]
        completions = [rollouts.completions[b][g] for b, g in part]
        sequences = pad_sequences([rollouts.prompts[b] for b, _ in part], completions, device)
        yield MicroBatch(part, completions, sequences)
        first += size
