"""One programming problem, whatever data set it is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from vpo_envs.code.sandbox import CallTest, Check, StdinTest, check_tolerance

MAX_TESTS = 16
"""Objectives of the environment. Of a problem with more tests the smallest ones are kept."""
MAX_TEST_BYTES = 1 << 20
"""Input and output of one test together; a larger one is dropped."""
TestT = TypeVar("TestT")


@dataclass(frozen=True)
class CodeProblem:
    """What a program should do, and the tests that tell whether it does."""

    name: str
    statement: str
    tests: tuple[StdinTest, ...] | tuple[CallTest, ...] | Check
    """1 to 16 tests: what the program reads and prints, calls of its entry point, or the data set's check code."""
    entry_point: str | None = None
    """The function (or method of a class `Solution`) that is called; None for a program that reads and prints."""
    starter_code: str = ""
    """The first lines of a program, which are shown."""
    tolerance: float | None = None
    """By how much a number with a fraction may differ, above 0 and below 1; None for not at all."""
    date: str = ""
    """When the problem was published, "2024-08-10"; empty if that is not known."""
    reference: str = ""
    """A correct program, if one is known."""
    partial: tuple[str, ...] = ()
    """Programs that pass some tests and not others, if any are known."""
    prelude: str = ""
    """Code that runs before every program: imports, or the beginning of the function that is to be completed."""
    dropped_tests: int = field(default=0, compare=False)
    """How many tests of the data set were left out, because they are too many or too large."""

    def __post_init__(self) -> None:
        check_tolerance(f"problem {self.name}: tolerance", self.tolerance)

    @property
    def num_tests(self) -> int:
        """How many tests are scored."""
        return self.tests.asserts if isinstance(self.tests, Check) else len(self.tests)


def keep_smallest(sized_tests: Sequence[tuple[int, TestT]]) -> tuple[TestT, ...]:
    """The 16 smallest of (size in bytes, test), smallest first, none of them above the limit for one test.

    Raises:
        ValueError: none is left.
    """
    fitting = [(size, test) for size, test in sized_tests if size <= MAX_TEST_BYTES]
    if not fitting:
        reason = f" of at most {MAX_TEST_BYTES} bytes (of {len(sized_tests)})" if sized_tests else ""
        raise ValueError(f"there is no test{reason}")
    return tuple(test for _, test in sorted(fitting, key=lambda pair: pair[0])[:MAX_TESTS])
