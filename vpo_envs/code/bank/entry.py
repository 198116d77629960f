"""How a problem of the bank is written down: its tests as a table, its programs as indented text."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Literal

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.sandbox import CallTest, StdinTest

Level = Literal["easy", "medium", "hard"]


@dataclass(frozen=True)
class Entry:
    """A problem and how hard it is."""

    level: Level
    problem: CodeProblem


def stdin_entry(
    name: str, level: Level, statement: str, tests: str, reference: str, partial: Sequence[str], examples: int = 1
) -> Entry:
    """A program that reads standard input and prints. `tests` has a line `input => output` each; a bar ends a line.

    The first `examples` tests are shown in the statement.
    """
    table = tuple(StdinTest(_lines(left), _lines(right)) for left, right in _rows(tests))
    shown = [f"Example input:\n{test.input}Example output:\n{test.output.rstrip()}" for test in table[:examples]]
    text = "\n\n".join([_text(statement), *shown])
    programs = tuple(map(_text, partial))
    return Entry(level, CodeProblem(name, text, table, reference=_text(reference), partial=programs))


def call_entry(
    name: str, level: Level, signature: str, statement: str, tests: str, reference: str, partial: Sequence[str]
) -> Entry:
    """A function to be written. `tests` has a line `arguments => result` each, both as Python literals.

    The first two tests are shown in the statement.
    """
    rows = _rows(tests)
    table = tuple(CallTest(literal_eval(f"({left},)"), literal_eval(right)) for left, right in rows)
    entry_point = signature.partition("(")[0]
    shown = [f"{entry_point}({left}) is {right}" for left, right in rows[:2]]
    text = "\n\n".join([f"Write a function {signature}.", _text(statement), "Examples:\n" + "\n".join(shown)])
    problem = CodeProblem(
        name,
        text,
        table,
        entry_point=entry_point,
        starter_code=f"def {signature}:\n",
        reference=_text(reference),
        partial=tuple(map(_text, partial)),
    )
    return Entry(level, problem)


def _text(indented: str) -> str:
    return dedent(indented).strip("\n")


def _rows(tests: str) -> list[tuple[str, str]]:
    rows = []
    for line in _text(tests).splitlines():
        left, arrow, right = line.partition("=>")
        if not arrow:
            raise ValueError(f"a test of the bank is 'input => output', not {line!r}")
        rows.append((left.strip(), right.strip()))
    return rows


def _lines(cell: str) -> str:
    return cell.replace("|", "\n") + "\n"
