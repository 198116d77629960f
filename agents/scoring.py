"""Scoring beside generation: the responses to some prompts are scored while those to others are still sampled."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from agents.generation import Completion

if TYPE_CHECKING:
    from agents.environment import GroupRewards

Score = Callable[[list[int], list[list[Completion]]], "GroupRewards"]
"""Scores the responses to the prompts at some places."""
Stream = Iterator[tuple[int, list[Completion]]]
"""Places of prompts and their responses, as a generator yields them."""


@dataclass(frozen=True)
class Scored:
    """What B prompts were answered, what that earned, and how long scoring took."""

    completions: list[list[Completion]]
    """B x G."""
    rewards: GroupRewards
    generation_ended: float
    """When the last response was there (`time.perf_counter`)."""
    seconds: float
    """Work of scoring, in whichever thread."""


def score_beside(stream: Stream, score: Score, beside: bool = True) -> Scored:
    """Take every prompt from the stream and score it.

    A thread scores what is done, all prompts that wait together, while the stream goes on; the caller's thread scores
    what still waits when the stream has ended. The first exception of either side is raised, after the thread has ended
    and the stream is closed.

    Args:
        beside: False scores all prompts in one call, in the order of their places, when the stream has ended.
    """
    completions: dict[int, list[Completion]] = {}
    waiting: deque[int] = deque()
    parts: list[tuple[list[int], GroupRewards]] = []
    seconds: list[float] = []

    def work(places: list[int]) -> None:
        began = time.perf_counter()
        if places:
            parts.append((places, score(places, [completions[place] for place in places])))
        seconds.append(time.perf_counter() - began)

    jobs: deque[Future[None]] = deque()
    with _closing(stream), ThreadPoolExecutor(1, "scoring") as thread:
        try:
            for place, group in stream:
                completions[place] = group
                waiting.append(place)
                if beside:
                    jobs.append(thread.submit(lambda: work(_take_all(waiting))))
                while jobs and jobs[0].done():
                    jobs.popleft().result()  # raises what scoring raised
            ended = time.perf_counter()
            # Worker processes die with the thread that started them: those that the caller starts serve the next call.
            rest = _take_all(waiting)
            for job in jobs:
                job.result()
        except BaseException:
            waiting.clear()  # jobs that have not begun find nothing to do
            raise
    work(sorted(rest))
    return Scored([completions[place] for place in sorted(completions)], _join(parts), ended, sum(seconds))


def _take_all(waiting: deque[int]) -> list[int]:
    """Empty a queue that another thread may empty at the same time."""
    taken = []
    with suppress(IndexError):
        while True:
            taken.append(waiting.popleft())
    return taken


@contextmanager
def _closing(stream: Stream) -> Iterator[None]:
    """Ends a generator that is left early, so that an engine drops the requests that it still works on."""
    try:
        yield
    finally:
        if isinstance(stream, Generator):
            stream.close()


def _join(parts: Sequence[tuple[list[int], GroupRewards]]) -> GroupRewards:
    """The rewards of all parts, ordered by the places of the prompts."""
    order = np.argsort([place for places, _ in parts for place in places])
    rewards = [part for _, part in parts]
    masks = [part.objective_mask for part in rewards if part.objective_mask is not None]
    answers = [group for part in rewards for group in part.answers]
    return replace(
        rewards[0],
        rewards=np.concatenate([part.rewards for part in rewards])[order],
        answered=np.concatenate([part.answered for part in rewards])[order],
        objective_mask=np.concatenate(masks)[order] if masks else None,
        answers=[answers[i] for i in order],
    )
