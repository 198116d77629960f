"""score_responses: what a task may return, and the error that names what it must not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from vpo_envs import Objective, Task
from vpo_envs.scoring import score_responses


class Echo(Task[int]):
    """The reward of an answer is what it says, in both objectives."""

    objectives = (Objective("first", ""), Objective("second", ""))

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> int:
        return index

    def messages(self, problem: int, num_answers: int = 1, weights: Sequence[float] | None = None) -> Any:
        return [{"role": "user", "content": "?"}]

    def score(self, problem: int, answer: str) -> Any:
        return np.array([float(x) for x in answer.split()], np.float32)


def two(*answers: str) -> str:
    return "".join(f"<response_{i}>{a}</response_{i}>" for i, a in enumerate(answers, start=1))


def test_rewards_from_zero_to_one_pass() -> None:
    scored = score_responses(Echo(), [7, 8, 9], [two("0 1", "1 0.5"), "nothing", two("0.25 0")], 2)
    assert scored.rewards.tolist() == [[[0, 1], [1, 0.5]], [[0, 0], [0, 0]], [[0.25, 0], [0, 0]]]
    assert scored.best.tolist() == [[1, 0.5], [0, 0], [0.25, 0]]


@pytest.mark.parametrize(("bad", "shown"), [("nan", "nan"), ("1.5", "1.5"), ("-0.25", "-0.25"), ("inf", "inf")])
def test_a_bad_value_is_named_with_task_problem_answer_and_objective(bad: str, shown: str) -> None:
    responses = ["none", two("0 1", "1 1"), two("0 0", f"1 {bad}")]
    complaint = rf"Echo: problem 2 of the batch, answer 2: the reward for 'second' is {shown}, it must be in \[0, 1\]"
    with pytest.raises(ValueError, match=complaint):
        score_responses(Echo(), [7, 8, 9], responses, 2)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda n: np.zeros((n, 3)), r"need shape \(2, 2\), not \(2, 3\)"),
        (lambda n: np.zeros((n, 1)), r"need shape \(2, 2\), not \(2, 1\)"),  # it would broadcast
        (lambda n: np.zeros(n), r"need shape \(2, 2\), not \(2,\)"),
        (lambda n: np.zeros(2), r"need shape \(2, 2\), not \(2,\)"),
        (lambda n: 0.5, r"need shape \(2, 2\), not \(\)"),
        (lambda n: [[0.0], [0.0, 1.0]], "are no array of numbers"),
        (lambda n: [["a", "b"]] * n, "are no array of numbers"),
    ],
)
def test_a_wrong_shape_is_named(wrong: Callable[[int], Any], complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Echo, "score_batch", lambda self, problems, answers: wrong(len(answers)))
    with pytest.raises(ValueError, match=rf"Echo\.score_batch: the rewards {complaint}"):
        score_responses(Echo(), [0, 1], ["<answer>0 0</answer>"] * 2, 1)


def test_a_single_score_of_another_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"Echo\.score: the reward of answer 1 of the batch needs shape \(2,\)"):
        score_responses(Echo(), [0, 1], ["<answer>0 0</answer>", "<answer>0 0 0</answer>"], 1)
