"""Which problems a step asks, and its random seeds: functions of (seed, step), so that a resumed run repeats them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def problems_of_step(step: int, prompts: int, problems: Sequence[int] | None, seed: int) -> list[int]:
    """The problems of a step: every problem once before any comes again, in an order that is new for each epoch.

    Environments without a fixed list of problems get a new seed for every prompt of a run.
    """
    positions = range(step * prompts, (step + 1) * prompts)
    if problems is None:
        return [seed * 10_000_000 % TRAIN_SEEDS + p for p in positions]
    order: dict[int, np.ndarray] = {}
    chosen = []
    for position in positions:
        epoch, place = divmod(position, len(problems))
        if epoch not in order:
            order[epoch] = np.random.default_rng([seed, epoch]).permutation(len(problems))
        chosen.append(problems[int(order[epoch][place])])
    return chosen


TRAIN_SEEDS = 900_000_000  # training seeds of foreign environments stay below their test seeds


def steps_for(epochs: int, prompts: int, num_problems: int) -> int:
    """Steps that ask every problem `epochs` times."""
    return math.ceil(epochs * num_problems / prompts)


def seed_of_step(seed: int, step: int, purpose: str) -> int:
    """A seed for one purpose ("weights" ...) in one step."""
    return seeds_of([seed, step, *purpose.encode()], 1)[0]


def seeds_of(words: Sequence[int], count: int) -> list[int]:
    """Seeds below 2**62 that follow from non-negative numbers; a larger count only adds to them."""
    return [int(word >> np.uint64(2)) for word in np.random.SeedSequence(words).generate_state(count, np.uint64)]


def prompt_seeds(seed: int, step: int, prompts: int) -> list[int]:
    """The seed of each prompt's responses in one step."""
    return seeds_of([seed, step, *b"generation"], prompts)
