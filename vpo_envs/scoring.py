"""From responses to reward tensors: the step that the single and the batched environment share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import split_response
from vpo_envs.task import Task


@dataclass(frozen=True)
class ScoredResponses:
    """n responses of m answers each, scored on k objectives."""

    answers: list[list[str | None]]
    """(n, m) the answers as text, None where absent (or a repetition)."""
    rewards: NDArray[np.float32]
    """(n, m, k), zero rows for absent answers."""
    answered: NDArray[np.bool_]
    """(n, m)."""
    best: NDArray[np.float32]
    """(n, k): the answered row that wins under the task's reference weights; zeros if nothing was answered."""
    details: list[list[dict[str, Any]]]
    """(n, m) what `Task.score_details` tells about each answer; empty for absent answers."""


def score_responses(
    task: Task[Any], problems: Sequence[Any], responses: Sequence[str], num_answers: int
) -> ScoredResponses:
    """Split each response into its answers and score all of them in one `Task.score_details` call.

    Raises:
        ValueError: the task's rewards have the wrong shape, are not numbers, or lie outside [0, 1]; or its details are
            not one dict of the task's `answer_details` for each answer.
    """
    n, m, k = len(responses), num_answers, task.reward_dim
    answers = [split_response(task, response, m) for response in responses]
    answered = np.array([[a is not None for a in row] for row in answers], bool).reshape(n, m)
    rewards = np.zeros((n, m, k), np.float32)
    details: list[list[dict[str, Any]]] = [[{} for _ in range(m)] for _ in range(n)]
    if answered.any():
        flat = [(problem, a) for problem, row in zip(problems, answers, strict=True) for a in row if a is not None]
        scores, known = task.score_details([p for p, _ in flat], [a for _, a in flat])
        rewards[answered] = _check_scores(task, scores, answered)
        for (i, j), detail in zip(np.argwhere(answered), _check_details(task, known, len(flat)), strict=True):
            details[i][j] = detail
    # A problem's own weights are these, without those of padded objectives, times a constant: the same row wins.
    scalars = np.where(answered, rewards @ task.reference_weights, -np.inf)  # (n, m)
    best = rewards[np.arange(n), scalars.argmax(axis=1)].copy() if n else np.zeros((0, k), np.float32)
    return ScoredResponses(answers, rewards, answered, best, details)


def detail_of(details: Sequence[dict[str, Any]], name: str) -> tuple[Any, ...]:
    """One of the task's `answer_details` for the m answers of a response, None where absent: an entry of `info`."""
    return tuple(detail.get(name) for detail in details)


def _check_details(task: Task[Any], details: Any, number: int) -> list[dict[str, Any]]:
    names = list(task.answer_details)
    if len(details) != number or any(sorted(detail) != sorted(names) for detail in details):
        raise ValueError(f"{type(task).__name__}.score_details: each of {number} answers needs a dict of {names}")
    return list(details)


def _check_scores(task: Task[Any], scores: Any, answered: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Scores of the answers that are there (`answered` (n, m)) as float32 (a, k), all of them in [0, 1]."""
    name, k = type(task).__name__, task.reward_dim
    try:
        values = np.asarray(scores, np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}.score_batch: the rewards are no array of numbers ({error})") from error
    shape = (int(answered.sum()), k)
    if values.shape != shape:
        raise ValueError(f"{name}.score_batch: the rewards need shape {shape}, not {values.shape}")
    fits = (values >= 0) & (values <= 1)  # False for NaN
    if not fits.all():
        row, i = np.argwhere(~fits)[0]
        problem, answer = np.argwhere(answered)[row]
        raise ValueError(
            f"{name}: problem {problem} of the batch, answer {answer + 1}: the reward for "
            f"{task.objectives[i].name!r} is {values[row, i]}, it must be in [0, 1]"
        )
    return values
