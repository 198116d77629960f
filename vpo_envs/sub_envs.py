"""What batched environments do for each of their sub-environments: one value each, and one generator each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from vpo_envs.answers import check_seed


def check_num_envs(num_envs: Any, env_id: str) -> int:
    """Raise ValueError unless `num_envs` is a whole number of at least 1."""
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
        raise ValueError(f"{env_id}: num_envs must be a whole number of at least 1, not {num_envs!r}")
    return num_envs


def one_each(what: str, values: Any, num_envs: int, env_id: str) -> Any:
    """The values as they are. Raises ValueError unless there is one for each sub-environment."""
    try:
        n: int | str = len(values)
    except TypeError:
        n = repr(values)
    if n != num_envs:
        raise ValueError(f"{env_id}: {what} needs one entry for each of {num_envs} environments, not {n}")
    return values


def seeded_generators(
    seed: int | Sequence[int | None] | None, old: list[np.random.Generator] | None, num_envs: int, env_id: str
) -> list[np.random.Generator]:
    """One generator for each sub-environment, as each alone would have it after a reset with its seed.

    An int s means s, s + 1, ...; where a seed is None the old generator goes on, or a new one starts from entropy.

    Raises:
        ValueError: a bad seed, or a list whose length is not `num_envs`.
    """
    if isinstance(seed, int | np.integer):
        first = check_seed(seed, env_id)
        seed = [first + i for i in range(num_envs)]
    seeds: Sequence[int | None] = [None] * num_envs if seed is None else one_each("seed", seed, num_envs, env_id)
    return [
        old[i] if s is None and old is not None else seeding.np_random(None if s is None else check_seed(s, env_id))[0]
        for i, s in enumerate(seeds)
    ]
