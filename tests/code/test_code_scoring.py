"""What a program earns, what info and the picture tell about it, and that a fault of the grader is no score."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from code_helpers import SUM, all_problems, stdin_problem, stdin_row, write_rows
from helpers import LinearReward

import vpo_envs  # noqa: F401
from vpo_envs.code import CodeTask
from vpo_envs.code.sandbox import Sandbox, SandboxError

FIRST_ONLY = "print(3)"
CRASH = "import sys\nsys.stderr.write('about to fail')\nprint(1 // 0)"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_rows(tmp_path_factory.mktemp("code") / "sum.jsonl", stdin_row())


@pytest.fixture(scope="module")
def task(path: str) -> CodeTask:
    return CodeTask(data=path, workers=1)


def test_every_test_is_an_objective(task):
    assert [o.name for o in task.objectives] == [f"test_{i}" for i in range(1, 17)]
    rewards = task.score_batch([stdin_problem()] * 3, [SUM, FIRST_ONLY, "print("])
    assert rewards.dtype == np.float32
    assert rewards[:, :3].tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert not rewards[:, 3:].any()
    assert task.score_batch([], []).shape == (0, 16)
    assert task.score(stdin_problem(), f"```python\n{SUM}\n```").sum() == 3
    assert not task.score(stdin_problem(), "no program").any()
    with pytest.raises(ValueError, match="zip"):
        task.score_batch([stdin_problem()], [])


def test_weights_are_equal_over_the_real_tests(task):
    problem = stdin_problem()
    assert task.objective_mask(problem).tolist() == [True] * 3 + [False] * 13
    assert task.problem_weights(problem).tolist() == [1 / 3] * 3 + [0] * 13
    assert task.problem_weights(problem) @ task.score(problem, SUM) == pytest.approx(1)
    assert task.problem_weights(problem) @ task.score(problem, FIRST_ONLY) == pytest.approx(1 / 3)
    assert task.reference_weights.tolist() == [1 / 16] * 16
    assert task.objective_mask(stdin_problem(*[("", "3")] * 16)).all()


def test_the_same_program_for_the_same_problem_is_run_once(task, monkeypatch):
    batches = []

    def count(self: Any, jobs: Any, limits: Any = None) -> Any:
        batches.append([job.program for job in jobs])
        return run_batch(self, jobs, limits)

    run_batch = Sandbox.run_batch
    monkeypatch.setattr(Sandbox, "run_batch", count)
    one, two = stdin_problem(), stdin_problem(("1 1", "2"))
    rewards = task.score_batch([one, one, two, one, two], [SUM, FIRST_ONLY, SUM, f"```\n{SUM}\n```", FIRST_ONLY])
    assert batches == [[SUM, FIRST_ONLY, SUM, FIRST_ONLY]]
    assert rewards.sum(1).tolist() == [3, 1, 1, 3, 0]


def test_numbers_may_differ_by_the_tolerance(path):
    exact = stdin_problem(("1", "0.333"))
    own = stdin_problem(("1", "0.333"), tolerance=0.1)
    third = "print(1 / 3)"
    assert [CodeTask(data=path, workers=1).score(p, third)[0] for p in (exact, own)] == [0, 1]
    assert [CodeTask(data=path, workers=1, tolerance=0.01).score(p, third)[0] for p in (exact, own)] == [1, 1]


def test_limits_are_those_that_were_asked_for(path):
    slow = "while True: pass"
    [verdicts] = [
        d["verdicts"]
        for d in CodeTask(data=path, workers=1, time_limit=0.2).score_details([stdin_problem()], [slow])[1]
    ]
    assert verdicts == ("time limit",) * 3
    hungry = "x = bytearray(100 << 20)\nprint(3)"
    problem = stdin_problem(("", "3"))
    verdicts = [
        CodeTask(data=path, workers=1, memory_mb=mb).score_details([problem], [hungry])[1][0]["verdicts"]
        for mb in (64, 512)
    ]
    assert verdicts == [("memory limit",), ("pass",)]


# ---- info and pictures ------------------------------------------------------------------------------------------


def test_info_tells_why_a_test_failed(path):
    env = gym.make("vpo/Code-v0", data=path, num_answers=3, workers=1)
    env.reset(seed=0)
    response = f"<solution_1>{CRASH}</solution_1><solution_2>{SUM}</solution_2><solution_3>nothing</solution_3>"
    _, reward, _, _, info = env.step(response)
    assert reward[:3].tolist() == [1, 1, 1]
    assert info["verdicts"] == (("runtime error",) * 3, ("pass",) * 3, None)
    crashed, passed, absent = info["stderr_tail"]
    assert len(crashed) == len(passed) == 3
    assert absent is None
    assert all("ZeroDivisionError" in tail and len(tail) <= 1000 for tail in crashed)
    assert info["objective_mask"].sum() == 3


def test_the_batched_environment_tells_the_same(path):
    envs = gym.make_vec("vpo/Code-v0", num_envs=3, data=path, workers=1)
    envs.reset(seed=[0, 0, 1])
    _, rewards, _, _, infos = envs.step([SUM, "I pass.", f"```\n{FIRST_ONLY}\n```"])
    assert rewards.sum(1).tolist() == [3, 0, 1]
    assert infos["verdicts"] == [(("pass",) * 3,), (None,), (("pass", "wrong answer", "wrong answer"),)]
    assert infos["stderr_tail"][1] == (None,)


def test_the_picture_shows_verdict_and_error_of_each_test(path):
    env = gym.make("vpo/Code-v0", data=path, num_answers=2, render_mode="ansi", workers=1)
    env.reset(seed=0)
    asked = env.render()
    assert asked.startswith("Sum\n\nPrint the sum of two numbers.")
    env.step(f"<solution_1>{CRASH}</solution_1>")
    shown = env.render()
    assert "--- answer 1: 0 of 3 tests passed" in shown
    assert shown.count("runtime error") == 3
    assert shown.count("    ZeroDivisionError") == 3
    assert "--- answer 2: (none)" in shown
    env.reset(seed=0)
    assert env.render() == asked


def test_an_error_cannot_write_to_the_terminal(task):
    _, details = task.score_details(
        [stdin_problem(("", ""))], ["import sys\nsys.stderr.write('\\x1b[2Jgone\\n')\nfail"]
    )
    shown = task.render(stdin_problem(("", "")), ["fail"], np.zeros((1, 16), np.float32), details=details)
    assert "gone" in shown
    assert "\x1b" not in shown


# ---- faults and processes ---------------------------------------------------------------------------------------


def test_a_fault_of_the_grader_is_an_error(path, monkeypatch):
    def fail(*_: Any, **__: Any) -> Any:
        raise SandboxError("a worker died")

    monkeypatch.setattr(Sandbox, "run_batch", fail)
    env = gym.make("vpo/Code-v0", data=path)
    env.reset(seed=0)
    with pytest.raises(SandboxError, match="a worker died"):
        env.step(SUM)


def test_no_program_no_processes(path):
    task = CodeTask(data=path)
    assert task._sandbox is None
    task.score_batch([], [])
    env = gym.make("vpo/Code-v0", data=path)
    env.reset(seed=0)
    env.step("nothing to run")
    assert env.unwrapped.task._sandbox is None


def test_a_copy_has_processes_of_its_own(task):
    problem = stdin_problem()
    assert task.score(problem, SUM).sum() == 3
    for other in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task), copy.copy(task)):
        assert other._sandbox is None
        assert all_problems(other) == all_problems(task)
        assert other.score(problem, SUM).sum() == 3
        other.close()
    task.close()
    assert task.score(problem, SUM).sum() == 3  # they are started again


def test_scores_are_those_of_a_linear_reward(path):
    env = gym.make("vpo/Code-v0", data=path, workers=1)
    linear = LinearReward(env, weight=env.unwrapped.reference_weights)
    linear.reset(seed=0)
    assert linear.step(SUM)[1] == pytest.approx(3 / 16)  # that wrapper does not know how many tests a problem has


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"problems": "books"}, "problems must be 'bank' or 'rules', not 'books'"),
        ({"num_problems": 0}, "num_problems must be a whole number of at least 1, not 0"),
        ({"workers": 0}, "workers must be a whole number of at least 1, not 0"),
        ({"memory_mb": 1.5}, "memory_mb must be a whole number from 16 to 1048576, not 1.5"),
        ({"memory_mb": 1 << 21}, "memory_mb must be a whole number from 16 to 1048576, not 2097152"),
        ({"time_limit": 0}, "time_limit must be a number from 0.001 to 3600, not 0"),
        ({"time_limit": 3601}, "time_limit must be a number from 0.001 to 3600, not 3601"),
        ({"time_limit": float("nan")}, "time_limit must be a number from 0.001 to 3600, not nan"),
        ({"time_limit": "6"}, "time_limit must be a number from 0.001 to 3600, not '6'"),
        ({"tolerance": -1}, "tolerance must be None or a number above 0 and below 1, not -1"),
        ({"tolerance": 0}, "tolerance must be None or a number above 0 and below 1, not 0"),
        ({"tolerance": 1.0}, "tolerance must be None or a number above 0 and below 1, not 1.0"),
        ({"tolerance": "1e-6"}, "tolerance must be None or a number above 0 and below 1, not '1e-6'"),
        ({"unsafe": "no"}, "unsafe must be True or False, not 'no'"),
        ({"skip_bad_rows": 1}, "skip_bad_rows must be True or False, not 1"),
        ({"problems": "rules", "is_open": 0}, "is_open must be True or False, not 0"),
        ({"data": 5}, "data must be None, a path or 'hub', not 5"),
        ({"data": ""}, "data must be None, a path or 'hub', not ''"),
        ({"cases": 3}, r"cases=3 is for generated rules \(problems='rules'\), not for problems='bank'"),
        ({"is_open": False}, r"is_open=False is for generated rules \(problems='rules'\), not for problems='bank'"),
        ({"data": "hub", "tests": 4}, r"tests=4 is for generated rules \(problems='rules'\), not for data"),
        ({"data": "hub", "problems": "rules"}, r"problems='rules' is for generated rules \(.*\), not for data"),
        ({"problems": "rules", "cases": 9}, "cases must be a whole number from 1 to 3, not 9"),
        ({"split": "dev"}, "split must be 'train' or 'test', not 'dev'"),
    ],
)
def test_bad_arguments_are_named(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        CodeTask(**arguments)


def test_embedded_problems_come_from_the_bank_or_from_rules():
    bank, rules = CodeTask("test"), CodeTask("test", problems="rules", tests=5)
    assert not {p.statement for p in all_problems(bank)} & {p.statement for p in all_problems(CodeTask("train"))}
    assert len(CodeTask(num_problems=3)) == 3
    assert (len(rules), len(CodeTask(problems="rules"))) == (100, 1000)
    assert rules[0].num_tests == 5
    assert CodeTask("test", problems="rules", tests=5, num_problems=2)[1] == rules[1]
