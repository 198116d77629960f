"""Candidate answers to a problem: right, near-miss and wrong ones, with several reward vectors among them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpo_envs.pareto_metrics import non_dominated
from vpo_envs.scoring import score_responses
from vpo_envs.task import Task

MOST_ROUNDS = 16  # times that the pool is enlarged
CHUNK = re.compile(r"\s*\S+")


@dataclass(frozen=True)
class Candidates:
    """n different answers to one problem and what each earns."""

    answers: tuple[str, ...]
    rewards: NDArray[np.float32]
    """(n, k)."""

    def pareto_front(self) -> NDArray[np.float32]:
        """The different reward vectors (f, k) that no candidate's dominates, sorted."""
        return np.unique(self.rewards[non_dominated(self.rewards)], axis=0)


def candidates_of(task: Task[Any], index: int, n: int, draws: int) -> Candidates:
    """`n` candidate answers to problem `index`, a function of the arguments alone.

    They are chosen from a pool of `draws` demonstrations of the problem, as many edited ones, and as many of other
    problems; repeated answers count once. As long as a single reward vector dominates the whole pool and it is not 1
    throughout, there may be a conflict that was not met yet, and the pool is enlarged, up to 16 times. Up to half of
    the candidates are Pareto-optimal in the pool, each with another reward vector; a quarter (at least one) are those
    of the lowest value under the reference weights; the rest are chosen so that few reward vectors repeat.

    Raises:
        NotImplementedError: the task has no demonstrations.
        ValueError: fewer than `n` different answers were found.
    """
    problem, weights = task[index], task.problem_weights(task[index])
    rng = Random(f"candidates {index}")  # a string seeds Random through SHA-512: the same draws in every process
    pool: dict[Hashable, str] = {}
    rewards = np.zeros((0, task.reward_dim), np.float32)
    for _ in range(MOST_ROUNDS):
        for answer in _drawn(task, index, draws, rng):
            pool.setdefault(task.normalise(answer), answer)
        fresh = list(pool.values())[len(rewards) :]
        scores = score_responses(task, [problem] * len(fresh), [task.wrap(a) for a in fresh], 1).best
        rewards = np.concatenate([rewards, scores])
        optimal = rewards[non_dominated(rewards)]
        if len(pool) >= n and ((optimal != optimal[0]).any() or optimal[0] @ weights > 1 - 1e-6):
            break
    if len(pool) < n:
        raise ValueError(
            f"CandidateAnswers: problem {index} has {len(pool)} different candidate answers, not {n}; raise draws or "
            "lower n"
        )
    chosen, answers = _choose(rewards, rewards @ weights, n, rng), list(pool.values())
    return Candidates(tuple(answers[i] for i in chosen), rewards[chosen])


def _drawn(task: Task[Any], index: int, draws: int, rng: Random) -> Iterator[str]:
    shown = [task.demonstration(task[index], rng) for _ in range(draws)]
    yield from shown
    for _ in range(draws):
        yield _edited(rng.choice(shown), rng.choice(shown), rng)
    for _ in range(draws):
        yield task.demonstration(task[rng.randrange(len(task))], rng)


def _edited(answer: str, other: str, rng: Random) -> str:
    """The answer with a word lost, repeated, exchanged with the next, or taken from the other; or with its end."""
    chunks, others = CHUNK.findall(answer), CHUNK.findall(other)
    if not chunks or not others:
        return answer
    i = rng.randrange(len(chunks))
    edit = rng.randrange(5)
    if edit == 0:
        del chunks[i]
    elif edit == 1:
        chunks.insert(i, chunks[i])
    elif edit == 2:
        chunks[i : i + 2] = chunks[i : i + 2][::-1]
    elif edit == 3:
        chunks[i] = others[min(i, len(others) - 1)]
    else:
        chunks[i:] = others[i:]
    return "".join(chunks)


def _choose(rewards: NDArray[np.float32], values: NDArray[np.float64], n: int, rng: Random) -> list[int]:
    """n rows of `rewards` (a, k), in random order: some Pareto-optimal, those of the lowest value, the rest varied."""
    order = rng.sample(range(len(rewards)), len(rewards))
    optimal = non_dominated(rewards)
    seen: dict[bytes, int] = {}  # how often each reward vector was chosen
    chosen: list[int] = []

    def take(rows: list[int], most: int) -> None:
        for i in rows[: max(0, most)]:
            chosen.append(i)
            key = rewards[i].tobytes()
            seen[key] = seen.get(key, 0) + 1

    def unlike(rows: list[int]) -> list[int]:
        """One row of each reward vector."""
        return list({rewards[i].tobytes(): i for i in reversed(rows)}.values())

    take(unlike([i for i in order if optimal[i]]), max(1, n // 2))
    take(sorted((i for i in order if i not in chosen), key=lambda i: values[i]), max(1, n // 4))
    while len(chosen) < n:
        rest = [i for i in order if i not in chosen]
        take([min(rest, key=lambda i: seen.get(rewards[i].tobytes(), 0))], 1)
    return rng.sample(chosen[:n], n)
