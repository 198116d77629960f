"""HumanEval's file: the check code becomes tests, and an answer is a whole function or the rest of its body."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from code_helpers import all_problems, human_row, write_rows

from vpo_envs.code import CodeProblem, CodeTask


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> CodeTask:
    path = write_rows(tmp_path_factory.mktemp("human") / "human.jsonl", human_row())
    return CodeTask(data=path, workers=1)


def passed(task: CodeTask, answer: str, problem: CodeProblem | None = None) -> list[float]:
    problem = problem or task[0]
    return task.score(problem, answer)[: problem.num_tests].tolist()


def test_a_row_becomes_a_problem(task):
    problem = task[0]
    assert (problem.name, problem.entry_point, problem.num_tests) == ("HumanEval/900", "total", 3)
    assert problem.reference == human_row()["prompt"] + "    return sum(xs)\n"
    [message] = task.messages(problem)
    assert human_row()["prompt"].rstrip() in message["content"]
    assert "sum(xs)" not in message["content"]
    assert "candidate" not in message["content"]


@pytest.mark.parametrize(
    "answer",
    [
        "    return sum(xs)\n",
        "return sum(xs)",
        "\n    total = 0\n    for x in xs:\n        total += x\n    return total",
        "total = 0\nfor x in xs:\n    total += x\nreturn total",
        "n = 0\n    for x in xs:\n        n += x\n    return n",  # its first line has lost its indentation
        "def total(xs: List[int]) -> int:\n    return sum(xs)",  # with the imports of what was shown
        "    def total(xs):\n        return sum(xs)",
        "def add(xs):\n    return sum(xs)\n\ntotal = add",
        "from builtins import sum as total",
        "from __future__ import annotations\n\ndef total(xs: Unknown):\n    return sum(xs)",
        human_row()["prompt"] + "    return sum(xs)\n",
        "```python\n    return sum(xs)\n```",
        "```\nreturn sum(xs)\n```",
        "<think>return 0</think>\nreturn sum(xs)",
    ],
)
def test_a_whole_function_or_the_rest_of_its_body_is_an_answer(task, answer):
    assert passed(task, answer) == [1, 1, 1]


@pytest.mark.parametrize(
    ("answer", "rewards"),
    [
        ("    return None", [0, 0, 0]),
        ("    return 0", [1, 0, 0]),
        ("    return len(xs) + 1 if len(xs) > 1 else 0", [1, 1, 0]),
        ("def other(xs):\n    return sum(xs)", [0, 0, 0]),
        ("    return sum(xs", [0, 0, 0]),
        ("I would use the function sum.", [0, 0, 0]),
        ("", [0, 0, 0]),
    ],
)
def test_each_assert_is_a_test(task, answer, rewards):
    assert passed(task, answer) == rewards


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (human_row(prompt=...), "field 'prompt' is missing"),
        (human_row(test=5), "field 'test' must be a string, got 5"),
        (human_row(test="def check(candidate):\n    assert candidate("), "field 'test' "),
        (human_row(test="def check(candidate):\n    pass\n"), "field 'test' "),
        (human_row(prompt="def total(", canonical_solution=...), "field 'test' cannot be used with field 'prompt': "),
        (human_row(entry_point="1x"), "field 'entry_point' is no name of a function: '1x'"),
        (human_row(canonical_solution=7), "field 'canonical_solution' must be a string, got 7"),
    ],
)
def test_a_bad_row_is_named_with_problem_and_field(tmp_path, bad, complaint):
    path = write_rows(tmp_path / "bad.jsonl", human_row(), bad)
    with pytest.raises(ValueError, match=r"1 bad row\(s\) of 2") as error:
        CodeTask(data=path)
    assert f"row 2: problem HumanEval/900: {complaint}" in str(error.value)
    with pytest.raises(ValueError, match="row 1: field 'task_id' is missing"):
        CodeTask(data=write_rows(tmp_path / "none.jsonl", human_row(task_id=...)))


def test_a_problem_without_a_known_solution_loads(tmp_path):
    task = CodeTask(data=write_rows(tmp_path / "a.jsonl", human_row(canonical_solution=...)), workers=1)
    assert passed(task, "    return sum(xs)") == [1, 1, 1]
    with pytest.raises(ValueError, match="no correct program is known for problem HumanEval/900"):
        task.gold(task[0])


# ---- the real file ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(real_data: Path) -> CodeTask:
    return CodeTask("test", data=str(real_data / "humaneval" / "HumanEval.jsonl.gz"))


def test_every_real_solution_passes_every_assert_in_every_form(real):
    problems = all_problems(real)
    assert len(problems) == 164
    assert all(1 <= p.num_tests <= 16 for p in problems)
    bodies = [p.reference.removeprefix(p.prelude) for p in problems]
    for answers in ([real.gold(p) for p in problems], bodies, [dedent(body) for body in bodies]):
        rewards = real.score_batch(problems, answers)
        short = [p.name for p, row in zip(problems, rewards, strict=True) if row.sum() != p.num_tests]
        assert not short
        assert all(real.extract(real.wrap(answer)) == answer for answer in answers)


def test_no_real_problem_is_solved_by_returning_none(real):
    problems = all_problems(real)
    rewards = real.score_batch(problems, ["    return None\n"] * len(problems))
    assert not [p.name for p, row in zip(problems, rewards, strict=True) if row.sum() == p.num_tests]
