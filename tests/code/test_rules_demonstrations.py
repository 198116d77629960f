"""Demonstrations of generated rules: well formed, competent, and different from one another in what they get right."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.rules import demonstration, rule_problem
from vpo_envs.code.sandbox import Job, Sandbox, StdinTest, Verdict

PROBLEMS, DRAWS = 40, 8


def outcomes(**level: object) -> tuple[list[list[str]], np.ndarray]:
    """Programs (problems, draws), and whether each passes each test (problems, draws, tests)."""
    rng = Random(0)
    problems = [rule_problem("train", i, **level) for i in range(PROBLEMS)]
    programs = [[demonstration(problem, rng) for _ in range(DRAWS)] for problem in problems]
    jobs = [Job(program, p.tests) for p, drawn in zip(problems, programs, strict=True) for program in drawn]
    with Sandbox(workers=2) as sandbox:
        results = sandbox.run_batch(jobs)
    verdicts = [[result.verdict for result in row] for row in results]
    assert {v for row in verdicts for v in row} == {Verdict.PASS, Verdict.WRONG}  # nothing crashes
    passed = np.array([[v is Verdict.PASS for v in row] for row in verdicts])
    return programs, passed.reshape(PROBLEMS, DRAWS, -1)


@pytest.mark.parametrize("level", [{}, {"is_open": False}, {"cases": 3}], ids=str)
def test_demonstrations_are_competent_and_not_optimal(level):
    programs, passed = outcomes(**level)
    assert passed.mean() > 0.7
    perfect = passed.all(axis=2)  # (problems, draws)
    assert 0.1 < perfect.mean() < 0.55
    assert passed.any(axis=1).all(axis=1).mean() > 0.8  # together, 8 of them pass every test
    assert np.mean([len(set(drawn)) for drawn in programs]) > 4


def test_demonstrations_differ_in_the_tests_that_they_pass():
    _, passed = outcomes()
    assert np.mean([len(np.unique(rows, axis=0)) for rows in passed]) > 3.5
    # Tests of one group (two a group) go together, tests of different groups hardly.
    centred = (passed - passed.mean(axis=1, keepdims=True)).reshape(-1, 8)
    correlation = np.corrcoef(centred.T)
    other_groups = [correlation[i, j] for i in range(8) for j in range(i) if i // 2 != j // 2]
    assert np.mean(other_groups) < 0.2
    assert np.mean(correlation[np.triu_indices(8, 1)]) < 0.3


def test_what_is_left_open_is_guessed_both_ways():
    problem = rule_problem("train", 0)
    firsts = {demonstration(problem, Random(i)).split("\n")[1].split(":")[0] for i in range(30)}
    assert len(firsts) >= 2


def test_a_demonstration_is_made_from_the_statement_alone():
    problem = rule_problem("train", 1)
    bare = CodeProblem("?", problem.statement, (StdinTest("1\n", "1\n"),))
    assert [demonstration(bare, Random(i)) for i in range(20)] == [demonstration(problem, Random(i)) for i in range(20)]


def test_problems_that_are_no_rules_have_no_demonstration():
    with pytest.raises(ValueError, match="not the statement of a rule"):
        demonstration(CodeProblem("?", "Print 1.\nPlease.", (StdinTest("", "1"),)), Random(0))
