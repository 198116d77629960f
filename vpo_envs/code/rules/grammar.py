"""The small grammar of generated rules: their words, and the programs that carry them out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple


class Phrase(NamedTuple):
    """Words of a statement with what they mean in Python; several meanings where the words leave it open."""

    words: str
    meanings: tuple[str, ...]


CONDITIONS = {
    "even": Phrase("n is even", ("n % 2 == 0",)),
    "odd": Phrase("n is odd", ("n % 2 == 1",)),
    "divisible": Phrase("n is divisible by {a}", ("n % {a} == 0",)),
    "ends": Phrase("n ends in {a}", ("n % 10 == {a}",)),
    "greater": Phrase("n is greater than {a}", ("n > {a}",)),
    "less": Phrase("n is less than {a}", ("n < {a}",)),
    "least": Phrase("n is at least {a}", ("n >= {a}",)),
    "most": Phrase("n is at most {a}", ("n <= {a}",)),
    "between": Phrase("n is between {a} and {b}", ("{a} <= n <= {b}", "{a} < n < {b}")),
}
ACTIONS = {
    "plus": Phrase("n plus {a}", ("n + {a}",)),
    "minus": Phrase("n minus {a}", ("n - {a}",)),
    "times": Phrase("n times {a}", ("n * {a}",)),
    "from": Phrase("{a} minus n", ("{a} - n",)),
    "constant": Phrase("{a}", ("{a}",)),
    "digit": Phrase("the last digit of n", ("n % 10",)),
    "square": Phrase("n times n", ("n * n",)),
    "half": Phrase("half of n", ("n // 2", "(n + 1) // 2")),
    "difference": Phrase("the difference of n and {a}", ("n - {a}", "abs(n - {a})")),
}
PHRASES = CONDITIONS | ACTIONS
HEAD = "Read a whole number n from 0 to {most} and print one whole number."
FIRST = "The first case that fits counts."
OPEN = "Where the words leave something open, the tests settle it."


class Part(NamedTuple):
    """A condition or an action: its kind, its numbers, and which meaning is taken."""

    kind: str
    a: int = 0
    b: int = 0
    meaning: int = 0

    @property
    def phrase(self) -> Phrase:
        return PHRASES[self.kind]

    @property
    def words(self) -> str:
        return self.phrase.words.format(a=self.a, b=self.b)

    @property
    def code(self) -> str:
        return self.phrase.meanings[self.meaning].format(a=self.a, b=self.b)


class Case(NamedTuple):
    """What is printed where a condition holds."""

    condition: Part
    action: Part


@dataclass(frozen=True)
class Rule:
    """Cases in the order of the statement, what is printed otherwise, and which case counts where several fit."""

    cases: tuple[Case, ...]
    otherwise: Part
    last_counts: bool = False

    @property
    def by_priority(self) -> tuple[Case, ...]:
        return self.cases[::-1] if self.last_counts else self.cases

    def statement(self, most: int, is_open: bool) -> str:
        """The rule in words, for 0 <= n <= `most`. An open one does not say which case counts where several fit."""
        lines = [HEAD.format(most=most), OPEN if is_open else FIRST]
        lines += [f"{case.condition.words}: print {case.action.words}" for case in self.cases]
        return "\n".join([*lines, f"otherwise: print {self.otherwise.words}"])

    def program(self) -> str:
        """The rule in Python."""
        lines = ["n = int(input())"]
        for case in self.by_priority:
            keyword = "elif" if len(lines) > 1 else "if"
            lines.append(f"{keyword} {case.condition.code}: print({case.action.code})")
        last = f"print({self.otherwise.code})"
        return "\n".join([*lines, f"else: {last}" if self.cases else last])

    def values(self, most: int) -> list[int]:
        """What is printed for n = 0 ... `most`."""
        values = list(values_of(self.otherwise.code, most))
        for case in reversed(self.by_priority):
            condition, action = values_of(case.condition.code, most), values_of(case.action.code, most)
            values = [a if c else v for c, a, v in zip(condition, action, values, strict=True)]
        return values

    def parts(self) -> tuple[Part, ...]:
        """All conditions and actions, in the order of the statement."""
        return (*(part for case in self.cases for part in case), self.otherwise)

    def with_parts(self, parts: tuple[Part, ...]) -> Rule:
        """The rule with other conditions and actions: the inverse of `parts`."""
        pairs = zip(parts[:-1:2], parts[1:-1:2], strict=True)
        return Rule(tuple(Case(*pair) for pair in pairs), parts[-1], self.last_counts)


@lru_cache(maxsize=4096)
def values_of(code: str, most: int) -> tuple[int, ...]:
    """The values of a condition or an action for n = 0 ... `most`."""
    return tuple(eval(f"[{code} for n in range({most + 1})]", {"abs": abs, "range": range}))  # our own phrases' code


def read_statement(statement: str) -> tuple[Rule, int, bool]:
    """The arguments of `Rule.statement` that worded a statement: the rule, `most` and `is_open`.

    Each phrase is taken in its first meaning. Raises ValueError for a text that `Rule.statement` did not make.
    """
    lines = statement.split("\n")
    numbers = re.fullmatch(HEAD.format(most=r"(\d+)"), lines[0])
    rows = [line.partition(": print ")[::2] for line in lines[2:]]
    if numbers is None or not rows or lines[1] not in (OPEN, FIRST) or rows[-1][0] != "otherwise":
        raise ValueError(f"not the statement of a rule: {statement!r}")
    cases = tuple(Case(_read(condition, "condition"), _read(action, "action")) for condition, action in rows[:-1])
    return Rule(cases, _read(rows[-1][1], "action")), int(numbers[1]), lines[1] == OPEN


def _read(words: str, side: str) -> Part:
    for kind, pattern in _patterns(side):
        if match := pattern.fullmatch(words):
            return Part(kind, **{name: int(number) for name, number in match.groupdict().items()})
    raise ValueError(f"no {side} of a rule: {words!r}")


@lru_cache
def _patterns(side: str) -> list[tuple[str, re.Pattern[str]]]:
    table: dict[str, Any] = CONDITIONS if side == "condition" else ACTIONS
    return [(kind, re.compile(phrase.words.format(a=r"(?P<a>\d+)", b=r"(?P<b>\d+)"))) for kind, phrase in table.items()]
