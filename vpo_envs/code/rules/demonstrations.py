"""Programs of somebody who reads a rule one way or another, and not always carefully."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.rules.generator import near_misses
from vpo_envs.code.rules.grammar import read_statement

SLIPS_OPEN, SLIPS_CLEAR = (0.7, 0.25, 0.05), (0.4, 0.4, 0.2)
"""How often there is no slip, one, two. Where the words leave nothing open there are more, so that sets can differ."""


def careless_program(problem: CodeProblem, rng: Random) -> str:
    """A program for a generated rule: one reading of its words, taken at random, with up to two slips.

    It is made from the statement alone: what that leaves open is not known here either. Raises ValueError for a
    problem that is no generated rule.
    """
    rule, most, is_open = read_statement(problem.statement)
    if is_open:
        parts = tuple(part._replace(meaning=rng.randrange(len(part.phrase.meanings))) for part in rule.parts())
        rule = replace(rule.with_parts(parts), last_counts=len(rule.cases) > 1 and rng.random() < 1 / 2)
    for _ in range(rng.choices((0, 1, 2), SLIPS_OPEN if is_open else SLIPS_CLEAR)[0]):
        rule = rng.choice(near_misses(rule, most // 2) or [rule])
    return rule.program()
