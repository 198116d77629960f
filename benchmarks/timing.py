"""How fast a piece of work is."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any


def rate(work: Callable[[], Any], count: int, seconds: float) -> float:
    """Items per second of `work`, which does `count` of them: the best of the repetitions that fit into `seconds`."""
    best, end = float("inf"), perf_counter() + seconds
    while best == float("inf") or perf_counter() < end:
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    return count / best
