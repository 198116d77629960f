"""The embedded bank: 72 small problems, half of them standard-input programs and half functions."""

from __future__ import annotations

from vpo_envs.code.bank import functions, programs
from vpo_envs.code.bank.entry import Entry, Level
from vpo_envs.code.problems import CodeProblem
from vpo_envs.task import Split

__all__ = ["ENTRIES", "Entry", "Level", "bank_problems"]

ENTRIES: tuple[Entry, ...] = programs.ENTRIES + functions.ENTRIES
"""All problems of the bank with their levels, in a fixed order."""
TEST_SHARE = 4


def bank_problems(split: Split) -> list[CodeProblem]:
    """The problems of a split: of every four of one kind and level one is for testing, in each group other topics'."""
    groups: dict[tuple[bool, Level], list[CodeProblem]] = {}
    for entry in ENTRIES:
        groups.setdefault((entry.problem.entry_point is None, entry.level), []).append(entry.problem)
    return [
        problem
        for shift, problems in enumerate(groups.values())
        for i, problem in enumerate(problems)
        if ((i + shift) % TEST_SHARE == 0) == (split == "test")
    ]
