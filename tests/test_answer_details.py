"""A task may tell more about an answer than its reward: from `score_details` to `info` and to the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from vpo_envs import Objective, Task, TextEnv
from vpo_envs.scoring import score_responses
from vpo_envs.text_vector_env import TextVectorEnv


class Spelling(Task[str]):
    """Spell a word. The details say how long the answer is and which letters are missing."""

    objectives = (Objective("right", "the word itself"), Objective("length", "as long as the word"))
    answer_details = ("letters", "missing")

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> str:
        return ("owl", "ox")[index]

    def messages(self, problem: str, num_answers: int = 1, weights: Sequence[float] | None = None) -> Any:
        return [{"role": "user", "content": f"Spell {problem}"}]

    def score(self, problem: str, answer: str) -> Any:
        return np.array([answer == problem, len(answer) == len(problem)], np.float32)

    def score_details(self, problems: Sequence[str], answers: Sequence[str]) -> Any:
        details = [
            {"letters": len(answer), "missing": "".join(sorted(set(problem) - set(answer)))}
            for problem, answer in zip(problems, answers, strict=True)
        ]
        return self.score_batch(problems, answers), details


class Plain(Spelling):
    """The same without details, and with a picture of its own that knows of none."""

    answer_details = ()

    def score_details(self, problems: Sequence[str], answers: Sequence[str]) -> Any:
        return Task.score_details(self, problems, answers)

    def render(self, problem: str, answers: Any, rewards: Any, mode: str = "ansi") -> Any:  # type: ignore[override]
        return f"{problem}: {answers}"


TWO = "<response_1>awl</response_1><response_3>owl</response_3>"


def test_info_holds_the_details_of_each_answer() -> None:
    env = TextEnv(Spelling(), num_answers=3)
    _, info = env.reset(options={"problem": 0})
    assert "letters" not in info
    *_, info = env.step(TWO)
    assert info["letters"] == (3, None, 3)
    assert info["missing"] == ("o", None, "")
    env.reset(options={"problem": 0})
    *_, info = env.step("no answer at all")
    assert info["letters"] == info["missing"] == (None, None, None)


def test_the_batched_environment_has_them_for_each_response() -> None:
    envs = TextVectorEnv(Spelling(), 3, num_answers=3)
    envs.reset(options={"problem": [0, 1, 1]})
    *_, infos = envs.step([TWO, "nothing", "<response_2>fox</response_2>"])
    assert infos["letters"] == [(3, None, 3), (None, None, None), (None, 3, None)]
    assert infos["missing"] == [("o", None, ""), (None, None, None), (None, "", None)]


def test_the_picture_shows_them() -> None:
    env = TextEnv(Spelling(), num_answers=3, render_mode="ansi")
    env.reset(options={"problem": 0})
    assert env.render() == "Spell owl"
    env.step(TWO)
    assert env.render().splitlines()[1:] == [
        "--- answer 1: awl",
        "right=0.00  length=1.00",
        "letters: 3",
        "missing: o",
        "--- answer 2: (none)",
        "right=0.00  length=0.00",
        "--- answer 3: owl",
        "right=1.00  length=1.00",
        "letters: 3",
        "missing: ",
    ]


def test_a_task_without_details_needs_to_know_nothing_of_them() -> None:
    env = TextEnv(Plain(), num_answers=2, render_mode="ansi")
    _, info = env.reset(options={"problem": 1})
    assert env.render() == "ox: []"
    before = set(info)
    *_, info = env.step("<response_1>ox</response_1>")
    assert set(info) - before == {"rewards", "answered", "answers", "truncated_action"}
    assert env.render() == "ox: ['ox', None]"


@pytest.mark.parametrize(
    "details", [[], [{"letters": 3}], [{}, {}], [{"letters": 3, "missing": "", "more": 1}] * 2, [{"letters": 1}] * 2]
)
def test_details_that_are_not_those_that_the_task_names_are_an_error(details: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(Spelling, "score_details", lambda self, p, a: (self.score_batch(p, a), details))
    complaint = r"Spelling\.score_details: each of 2 answers needs a dict of \['letters', 'missing'\]"
    with pytest.raises(ValueError, match=complaint):
        score_responses(Spelling(), ["owl"], [TWO], 3)
