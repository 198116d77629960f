"""Any text at all has a score, and every score lies in [0, 1]^4."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpo_envs.maze import MazeTask
from vpo_envs.maze.task import parse_moves
from vpo_envs.scoring import score_responses

FRAGMENTS = (
    *(
        "<answer>",
        "</answer>",
        "< ANSWER >",
        "<route_1>",
        "</route_1>",
        "<route_02>",
        "</route_2>",
        "<route_",
        "</",
        "<",
    ),
    *("UP", "DOWN ", "left,", " RIGHT", "(0,1)", "\n", "\x00", "ı", "ß", "\ud800", "\u2028", "_", ">", "9" * 30),
)
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join))
TASKS = {mode: MazeTask(size=6, score_mode=mode, num_problems=20) for mode in ("linear", "convex_bonus")}


@pytest.mark.parametrize("mode", TASKS)
@given(text=texts, problem=st.integers(0, 19), num_answers=st.sampled_from([1, 2, 3]))
@settings(max_examples=300, deadline=None)
def test_any_response_has_a_score(mode, text, problem, num_answers):
    task = TASKS[mode]
    scored = score_responses(task, [task[problem]], [text], num_answers)
    assert scored.rewards.shape == (1, num_answers, 4)
    assert ((scored.rewards >= 0) & (scored.rewards <= 1)).all()
    assert not scored.rewards[~scored.answered].any()
    assert (scored.rewards[0] == scored.best[0]).all(axis=1).any()
    for answer, row in zip(scored.answers[0], scored.rewards[0], strict=True):
        if answer is not None:
            assert answer in text
            assert np.array_equal(row, task.score(task[problem], answer))


@given(moves=st.lists(st.sampled_from(["UP", "DOWN", "LEFT", "RIGHT"]), max_size=40), problem=st.integers(0, 19))
@settings(max_examples=300, deadline=None)
def test_every_walk_is_weakly_dominated_by_the_front(moves, problem):
    task = TASKS["linear"]
    vector = task.score(task[problem], " ".join(moves))
    assert (task.pareto_front(task[problem]) >= vector).all(axis=1).any()


@given(text=texts.map(lambda text: text.replace("<", "")))
@settings(max_examples=200, deadline=None)
def test_wrapping_an_answer_and_extracting_it_gives_it_back(text):
    task = TASKS["linear"]
    assert task.extract(task.wrap(text)) == text


@given(text=st.one_of(st.text(st.characters(max_codepoint=127)), texts))
@settings(max_examples=300, deadline=None)
def test_plain_and_other_text_is_cut_into_words_by_the_same_rule(text):
    # A letter outside ASCII, as a word of its own, takes the general way.
    assert parse_moves(text) == parse_moves(text + " é")
