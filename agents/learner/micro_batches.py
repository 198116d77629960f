"""Cutting the rollouts of an update into forward and backward passes that fit into memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from agents.generation import Completion
from agents.learner.logprobs import Layout, pad_sequences
from agents.learner.shared_prompts import share_prompts
from agents.rollout import Rollouts

REPEATED = 8
"""A repeated token has keys and values only: 8 to 10% of what the backward pass keeps of a computed one, measured."""

Where = tuple[int, int]
"""Prompt, and place in its group."""


@dataclass(frozen=True)
class Limits:
    """The largest pass."""

    rollouts: int
    tokens: int | None = None
    """Prompts, responses and padding together, as many as the model computes; a shared prompt that is repeated for its
    responses counts once and a `REPEATED`-th each time."""

    def __str__(self) -> str:
        tokens = "" if self.tokens is None else f" and {self.tokens} tokens"
        return f"micro-batches of at most {self.rollouts} rollouts{tokens}"

    def halved(self) -> Limits:
        return Limits(max(1, self.rollouts // 2), None if self.tokens is None else max(1, self.tokens // 2))


@dataclass(frozen=True)
class MicroBatch:
    """n rollouts of one pass."""

    where: list[Where]
    """n of them."""
    completions: list[Completion]
    sequences: Layout


def micro_batches(
    rollouts: Rollouts, prompts: Sequence[int], limits: Limits, device: torch.device, shared: bool = False
) -> Iterator[MicroBatch]:
    """The rollouts of some prompts in passes; `shared` computes a prompt once for all its rollouts in a pass."""
    for where in cut(rollouts, prompts, limits, shared):
        yield _lay_out(where, rollouts, device, shared)


def one_token(rollouts: Rollouts, device: torch.device, shared: bool = False) -> Layout:
    """The smallest pass: one prompt token and a response of one token."""
    token = rollouts.prompts[0][:1]
    completions = [Completion(token, [0.0], "stop")]
    return share_prompts([token], [1], completions, device) if shared else pad_sequences([token], completions, device)


def cut(rollouts: Rollouts, prompts: Sequence[int], limits: Limits, shared: bool = False) -> Iterator[list[Where]]:
    """Which rollouts share a pass: those of similar length, so that little is padding.

    The longest come first: a pass that does not fit into memory fails before others were computed in vain. A rollout
    that alone is beyond the limit has a pass of its own. With shared prompts a group stays together where it fits.
    """
    where = [(b, g) for b in prompts for g in range(len(rollouts.completions[b]))]
    where.sort(key=lambda bg: sum(_lengths(rollouts, bg)), reverse=True)
    if shared:
        yield from _cut_groups(rollouts, where, limits)
        return
    first = 0
    while first < len(where):
        size = limits.rollouts
        if limits.tokens is not None:
            size = max(1, min(size, limits.tokens // sum(_lengths(rollouts, where[first]))))
        yield where[first : first + size]
        first += size


def computed_tokens(rollouts: Rollouts, where: Sequence[Where], shared: bool = False) -> int:
    """Tokens that the model computes in a pass of these rollouts, padding included."""
    prompts, responses = zip(*(_lengths(rollouts, bg) for bg in where), strict=True)
    if not shared:
        return len(where) * max(map(sum, zip(prompts, responses, strict=True)))
    # The last token of a response predicts nothing.
    return len({b for b, _ in where}) * max(prompts) + len(where) * max(1, max(responses) - 1)


def _lengths(rollouts: Rollouts, where: Where) -> tuple[int, int]:
    b, g = where
    return len(rollouts.prompts[b]), len(rollouts.completions[b][g].token_ids)


def _cut_groups(rollouts: Rollouts, where: Sequence[Where], limits: Limits) -> Iterator[list[Where]]:
    """Whole groups, as many as fit; one that does not fit into a pass by itself is cut."""

    def fits(part: Sequence[Where]) -> bool:
        if limits.tokens is None or len(part) > limits.rollouts:
            return len(part) <= limits.rollouts
        repeated = len(part) * max(_lengths(rollouts, bg)[0] for bg in part)
        return computed_tokens(rollouts, part, shared=True) + repeated // REPEATED <= limits.tokens

    groups: dict[int, list[Where]] = {}
    for bg in where:
        groups.setdefault(bg[0], []).append(bg)
    part: list[Where] = []
    for group in groups.values():
        if part and not fits(part + group):
            yield part
            part = []
        while not fits(part + group) and len(group) > 1:  # here the part is empty
            size = next((n for n in range(len(group) - 1, 1, -1) if fits(group[:n])), 1)
            yield group[:size]
            group = group[size:]
        part = part + group
    if part:
        yield part


def _lay_out(where: list[Where], rollouts: Rollouts, device: torch.device, shared: bool) -> MicroBatch:
    completions = [rollouts.completions[b][g] for b, g in where]
    if not shared:
        prompts = [rollouts.prompts[b] for b, _ in where]
        return MicroBatch(where, completions, pad_sequences(prompts, completions, device))
    counts = Counter(b for b, _ in where)  # the rollouts of a prompt are side by side
    prompts = [rollouts.prompts[b] for b in counts]
    return MicroBatch(where, completions, share_prompts(prompts, list(counts.values()), completions, device))
