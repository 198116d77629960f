"""The sample of the official data: gold earns everything, and a broken gold answer loses what was broken, no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from vpo_envs.musique import MuSiQueTask, Problem


@pytest.fixture(scope="module")
def task(real_data: Path) -> MuSiQueTask:
    return MuSiQueTask(data=str(real_data / "musique/musique_ans_sample.jsonl"))


def test_every_gold_answer_earns_everything(task):
    assert len(task) == 48
    assert [len(p.hops) for p in task].count(2) == 20
    assert {len(p.texts) for p in task} == {20}
    assert (task.score_batch(list(task), [task.gold(p) for p in task]) == 1).all()


def test_every_alias_earns_everything(task):
    shown = [(p, task.gold(p).replace(f">{p.answers[0]}<", f">{alias}<")) for p in task for alias in p.answers]
    assert len(shown) > 60
    assert (task.score_batch(*zip(*shown, strict=True)) == 1).all()


def without_hop(i: int) -> Callable[[MuSiQueTask, Problem], str]:
    def broken(task: MuSiQueTask, problem: Problem) -> str:
        wrong = next(n for n in range(20) if n not in [hop.paragraph for hop in problem.hops])
        cited = [wrong if j == i else hop.paragraph for j, hop in enumerate(problem.hops)]
        return f"<support>{cited}</support><answer>{problem.answers[0]}</answer>"

    return broken


def support_of(problem: Problem) -> str:
    return f"<support>{[hop.paragraph for hop in problem.hops]}</support>"


BROKEN: dict[str, tuple[Callable[[MuSiQueTask, Problem], str], Callable[[int], set[int]]]] = {
    # what is broken -> (the answer, the components it loses for a question with so many hops)
    **{f"paragraph of step {i + 1} replaced": (without_hop(i), lambda n, i=i: {i} & set(range(n))) for i in range(4)},
    "no <support>": (lambda t, p: f"<answer>{p.answers[0]}</answer>", lambda n: set(range(n))),
    "<support> not closed": (lambda t, p: t.gold(p).replace("</support>", ""), lambda n: set(range(n))),
    "support only thought": (
        lambda t, p: f"<think>{support_of(p)}</think><answer>{p.answers[0]}</answer>",
        lambda n: set(range(n)),
    ),
    "four other numbers first": (
        lambda t, p: t.gold(p).replace("<support>", "<support>90 91 92 93 "),
        lambda n: set(range(n)),
    ),
    "wrong answer": (lambda t, p: f"{support_of(p)}<answer>xyzzy</answer>", lambda n: {4}),
    "answer padded": (lambda t, p: f"{support_of(p)}<answer>{p.answers[0]} xyzzy</answer>", lambda n: {4}),
    "blank answer": (lambda t, p: f"{support_of(p)}<answer> </answer>", lambda n: set(range(5))),
    "no <answer>": (lambda t, p: support_of(p), lambda n: set(range(5))),
    "<answer> not closed": (lambda t, p: t.gold(p).replace("</answer>", ""), lambda n: set(range(5))),
    "answer only thought": (lambda t, p: f"<think>{t.gold(p)}</think>", lambda n: set(range(5))),
    "nothing": (lambda t, p: "", lambda n: set(range(5))),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_gold_answer_loses_what_was_broken_and_nothing_else(task, name):
    broken, lost = BROKEN[name]
    for problem in task:
        reward = task.score(problem, broken(task, problem))
        assert set(np.flatnonzero(reward < 1).tolist()) == lost(len(problem.hops)), problem.question


def test_demonstrations_and_prompts(task):
    rng = Random(0)
    rewards = task.score_batch(list(task), [task.demonstration(p, rng) for p in task])
    assert 0.1 < (rewards == 1).all(axis=1).mean() < 0.6
    for problem in task:
        [message] = task.messages(problem, 3)
        assert message["content"].count("\n- ") == 20
        assert problem.question in message["content"]


def test_a_stratified_sample(task, real_data):
    sample = MuSiQueTask("test", data=str(real_data / "musique/musique_ans_sample.jsonl"), num_problems=30)
    assert [[len(p.hops) for p in sample].count(n) for n in (2, 3, 4)] == [10, 10, 10]


def test_data_of_another_task_are_refused(real_data):
    with pytest.raises(ValueError, match=r"40 bad row\(s\) of 40[\s\S]*field 'question' is missing"):
        MuSiQueTask(data=str(real_data / "toolrl/rlla_sample.parquet"))
