"""Lists of problems that are generated when they are asked for, and the split that a problem belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload
from zlib import crc32

from vpo_envs.task import Split

ProblemT = TypeVar("ProblemT")

CACHED_PROBLEMS = 8192
"""Generated problems that a list keeps; with more, the oldest is dropped and generated again when it is asked for."""
TEST_SHARE = 8  # one problem in so many belongs to the test split


def split_of(content: str) -> Split:
    """The split of a problem with this content. A function of the content alone, so no problem is ever in both."""
    return "test" if crc32(content.encode()) % TEST_SHARE == 0 else "train"


class GeneratedProblems(Sequence[ProblemT], Generic[ProblemT]):
    """`length` problems, the one at `index` made by `make(index)`, a pure function that pickles."""

    def __init__(self, length: int, make: Callable[[int], ProblemT], cached: int = CACHED_PROBLEMS) -> None:
        self._length, self._make, self._cached = length, make, cached
        self._made: dict[int, ProblemT] = {}

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> ProblemT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ProblemT]: ...
    def __getitem__(self, index: int | slice) -> ProblemT | Sequence[ProblemT]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        problem = self._made.get(check_index(index, self._length))
        if problem is None:
            problem = self._make(index)
            if len(self._made) >= self._cached:
                self._made.pop(next(iter(self._made)), None)  # the oldest
            self._made[index] = problem
        return problem

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}


def check_index(index: int, length: int, noun: str = "problem") -> int:
    """Raise IndexError unless 0 <= index < length: a task has no problem -1."""
    if not 0 <= index < length:
        raise IndexError(f"{noun} {index} of {length}")
    return index


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Raise ValueError unless the argument `name` ("MuSiQue: hops") is a whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {limits}, not {value!r}")
    return value
