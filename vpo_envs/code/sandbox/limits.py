"""What is run, under which limits, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from vpo_envs.code.sandbox.inside.values import encode_plain

STDERR_TAIL = 1000  # characters


class Verdict(StrEnum):
    """The outcome of one test."""

    PASS = "pass"
    WRONG = "wrong answer"
    TIME = "time limit"
    MEMORY = "memory limit"
    OUTPUT = "output limit"
    RUNTIME = "runtime error"
    COMPILE = "compile error"


@dataclass(frozen=True)
class Limits:
    """Limits of one program. What exceeds one ends the test with that verdict."""

    seconds: float = 6.0
    """Processor time of a test, of all threads together."""
    wall_factor: float = 3.0
    """A test may last so many times `seconds`, for programs that sleep or wait."""
    timeouts: int = 2
    """After so many tests of a program that ran out of time its remaining tests fail too."""
    memory_mb: int = 512
    """Address space beyond what the interpreter takes itself, MiB."""
    output_bytes: int = 16 << 20
    """Printed by, or in the result of, one test."""

    def __post_init__(self) -> None:
        for name, least in (("seconds", 1e-3), ("wall_factor", 1), ("timeouts", 1), ("memory_mb", 16)):
            if not getattr(self, name) >= least:
                raise ValueError(f"Limits: {name} must be at least {least}, not {getattr(self, name)!r}")
        if not 1024 <= self.output_bytes <= 1 << 28:
            raise ValueError(f"Limits: output_bytes must be from 1,024 to 2**28, not {self.output_bytes!r}")


@dataclass(frozen=True)
class StdinTest:
    """A program that reads `input` from standard input must print `output`."""

    input: str
    output: str


@dataclass(frozen=True)
class CallTest:
    """The entry point called with `arguments` must return `expected`.

    Both hold None, bool, int, float, str, and list, tuple, dict and set of these, up to 64 levels deep. ValueError for
    anything else.
    """

    arguments: tuple[Any, ...]
    expected: Any

    def __post_init__(self) -> None:
        for name, value in (("arguments", self.arguments), ("expected", self.expected)):
            try:
                encode_plain(value)
            except ValueError as error:
                raise ValueError(f"CallTest: {name} cannot be passed on: {error}") from None


@dataclass(frozen=True)
class Check:
    """Code of a data set that tests a function: see `make_check`, which makes it."""

    setup: str
    """Python that defines helpers, run before `source`. Untrusted, like `source`."""
    source: str
    """Python that defines `check(candidate)`, rewritten so that each assert statement reports on its own."""
    asserts: int
    """How many assert statements report, at most 16 by default. Each is a test."""


Tests = tuple[StdinTest, ...] | tuple[CallTest, ...] | Check


@dataclass(frozen=True)
class Job:
    """A program and its tests."""

    program: str
    tests: Tests
    entry_point: str | None = None
    """The function, or method of a class `Solution`, that call tests and checks call."""
    tolerance: float | None = None
    """If given, from 0 to 1: where the expected number has a fraction, it may differ by so much, relatively or
    absolutely."""

    @property
    def num_tests(self) -> int:
        return self.tests.asserts if isinstance(self.tests, Check) else len(self.tests)

    def __post_init__(self) -> None:
        if not isinstance(self.program, str):
            raise TypeError(f"Job: program must be a str, not {type(self.program).__name__}")
        if isinstance(self.tests, Check):
            kinds: set[type] = {CallTest}
        else:
            kinds = {type(test) for test in self.tests}
            if kinds not in (set(), {StdinTest}, {CallTest}):
                raise TypeError(f"Job: tests must be all StdinTest or all CallTest, not {sorted(map(str, kinds))}")
        if CallTest in kinds and not self.entry_point:
            raise ValueError("Job: call tests and checks need an entry_point")
        check_tolerance("Job: tolerance", self.tolerance)


def check_tolerance(name: str, value: Any) -> None:
    """Raise ValueError unless it is None, or a number above 0 and below 1, for then a difference is no equality."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < 1):
        raise ValueError(f"{name} must be None or a number above 0 and below 1, not {value!r}")


@dataclass(frozen=True)
class TestResult:
    """The outcome of one test, and the end of what the program wrote to standard error in it."""

    verdict: Verdict
    stderr_tail: str = ""

    __test__ = False  # no test class of pytest's

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASS


class SandboxError(RuntimeError):
    """The grader is at fault, or cannot protect this machine. Never a score."""
