"""The bank: references earn everything, natural mistakes earn a part, and different mistakes different parts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from helpers import outputs_under_hash_seeds

from vpo_envs.code.bank import ENTRIES, bank_problems, functions, programs
from vpo_envs.code.bank.entry import call_entry, stdin_entry
from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.sandbox import CallTest, Job, Limits, Sandbox, StdinTest, Verdict

PROBLEMS = [entry.problem for entry in ENTRIES]


def job(problem: CodeProblem, program: str) -> Job:
    return Job(program, problem.tests, problem.entry_point)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, np.ndarray]:
    """Problem -> passed (programs, tests), the reference first, then the partial solutions."""
    jobs = [job(p, program) for p in PROBLEMS for program in (p.reference, *p.partial)]
    with Sandbox(workers=2) as sandbox:
        results = iter(sandbox.run_batch(jobs, Limits(seconds=2)))
    return {
        p.name: np.array([[r.verdict is Verdict.PASS for r in next(results)] for _ in range(1 + len(p.partial))])
        for p in PROBLEMS
    }


def test_the_bank_has_problems_of_every_level_and_kind():
    groups = Counter((entry.level, entry.problem.entry_point is None) for entry in ENTRIES)
    assert groups == {(level, kind): 12 for level in ("easy", "medium", "hard") for kind in (True, False)}
    assert len({p.name for p in PROBLEMS}) == len({p.statement for p in PROBLEMS}) == 72


def test_every_reference_passes_every_test(outcomes):
    assert [name for name, passed in outcomes.items() if not passed[0].all()] == []


def test_every_partial_solution_fails_something_and_passes_something(outcomes):
    assert [name for name, passed in outcomes.items() if passed[1:].all(axis=1).any()] == []
    assert [name for name, passed in outcomes.items() if not passed[1:].any(axis=1).all()] == []


def test_no_two_partial_solutions_of_a_problem_pass_the_same_tests(outcomes):
    assert [name for name, passed in outcomes.items() if len(np.unique(passed, axis=0)) < len(passed)] == []


def test_on_most_problems_no_partial_solution_is_better_on_every_test_than_all_others(outcomes):
    """Where none dominates, a set of partial solutions is worth more than the best of them alone."""

    def one_dominates(partial: np.ndarray) -> bool:
        return any((passed >= partial).all() for passed in partial)

    assert np.mean([one_dominates(passed[1:]) for passed in outcomes.values()]) < 0.2


def test_tests_of_a_problem_are_hardly_correlated_over_its_partial_solutions(outcomes):
    """Pearson's correlation of two tests over the programs of a problem, all problems centred and pooled."""
    products, norms = [], []
    for passed in outcomes.values():
        centred = passed[1:] - passed[1:].mean(axis=0)  # (programs, tests)
        gram = centred.T @ centred
        pairs = np.triu_indices(len(gram), 1)
        products.append(gram[pairs])
        norms.append(np.sqrt(np.outer(np.diag(gram), np.diag(gram)))[pairs])
    correlation = sum(p.sum() for p in products) / sum(n.sum() for n in norms)
    assert abs(correlation) < 0.3


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_problem_is_well_formed(problem):
    assert 8 <= problem.num_tests <= 16
    assert len(problem.partial) >= 2
    assert len({repr(test) for test in problem.tests}) == problem.num_tests
    kind = StdinTest if problem.entry_point is None else CallTest
    assert all(isinstance(test, kind) for test in problem.tests)
    assert problem.reference not in problem.statement
    for program in (problem.reference, *problem.partial):
        compile(program, problem.name, "exec")
        assert problem.entry_point is None or f"def {problem.entry_point}(" in program
    if problem.entry_point is not None:
        assert problem.starter_code.startswith(f"def {problem.entry_point}(")
        compile(f"{problem.starter_code}    pass", problem.name, "exec")
    assert "Example" in problem.statement


def test_one_problem_in_four_of_every_level_and_kind_is_for_testing():
    train, test = bank_problems("train"), bank_problems("test")
    assert {p.name for p in train}.isdisjoint(p.name for p in test)
    assert len(train) + len(test) == 72
    level = {entry.problem.name: entry.level for entry in ENTRIES}
    groups = Counter((level[p.name], p.entry_point is None) for p in test)
    assert set(groups.values()) == {3}
    assert len(groups) == 6
    for topic in (*programs.TOPICS, *functions.TOPICS):
        assert any(entry.problem in train for entry in topic.ENTRIES)


def test_tests_are_read_from_a_table():
    entry = stdin_entry("sum", "easy", "Add.", "1 2|3 => 6\n=> 0", "print(0)", ["print(1)"])
    assert entry.problem.tests == (StdinTest("1 2\n3\n", "6\n"), StdinTest("\n", "0\n"))
    assert entry.problem.statement == "Add.\n\nExample input:\n1 2\n3\nExample output:\n6"
    entry = call_entry("f", "easy", "f(a: int, b: list[int]) -> bool", "?", "1, [2] => True\n0, [] => False", "", [])
    assert entry.problem.tests == (CallTest((1, [2]), True), CallTest((0, []), False))
    assert entry.problem.starter_code == "def f(a: int, b: list[int]) -> bool:\n"
    with pytest.raises(ValueError, match="'input => output', not '1 2 3'"):
        stdin_entry("sum", "easy", "Add.", "1 2 3", "", [])


IN_ANOTHER_PROCESS = (
    "from vpo_envs.code.bank import bank_problems; print(repr([*map(bank_problems, ('train', 'test'))]))"
)


def test_processes_with_different_hash_seeds_agree():
    runs = outputs_under_hash_seeds(IN_ANOTHER_PROCESS)
    assert len(runs[0]) > 100_000
    assert runs[0] == runs[1]
