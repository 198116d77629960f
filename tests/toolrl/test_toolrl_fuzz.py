"""Any text at all has a score in [0, 1]^4, and nothing scores above the gold answer."""

from __future__ import annotations

import contextlib
import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from toolrl_helpers import HOTEL, PLAN, TRAIN, WORDS, call, problem, section

from vpo_envs.answers import split_response
from vpo_envs.scoring import score_responses
from vpo_envs.toolrl import ToolRLTask
from vpo_envs.toolrl.answer_text import Call, parse_calls, read_answer
from vpo_envs.toolrl.generator import calls_text
from vpo_envs.toolrl.problems import parse_row

TASK = ToolRLTask(num_problems=20)
PROBLEMS = [*(TASK[i] for i in range(20)), problem(HOTEL, TRAIN), problem(HOTEL, HOTEL, TRAIN), problem(call("ping"))]
FRAGMENTS = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "< TOOL_CALL >", "<response>", "</response>", "</", "<"),
    *("<response_1>", "</response_1>", "<response_2>", "</response_2>", "<response_03>", PLAN, WORDS),
    *(section(HOTEL), section(TRAIN, HOTEL), json.dumps(HOTEL), json.dumps([TRAIN]), '{"name": "book_hotel"}'),
    *(
        '{"name": "find_train", "parameters": {"origin": ',
        '"Oslo"',
        "}}",
        "}",
        "{",
        "[",
        "]",
        ",",
        ":",
        '"',
        "\\",
        '"a":',
    ),
    *("NaN", "1e999", "9" * 400, "true", "null", "-", "0.5", "\n", " ", "\x00", "ß", "\ud800", "\u2028", "x"),
)
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
numbers = st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
words = st.sampled_from(
    ["", " ", "a b", '"', "\\", "}]", "27.0", "true", "é", "e\u0301", "👍🏽", "\u2028", "שלום", "\x00"]
)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=3,
)
names = st.sampled_from(["book_hotel", "find_train", "ping"])
keys = st.sampled_from(["city", "nights", "breakfast", "origin", "destination"])
likely = st.sampled_from(["Oslo", 2, "2", False, "false", "New York", "York", ["Oslo"], {"city": "Oslo"}, None])
some_calls = st.lists(st.builds(Call, names, st.dictionaries(keys, likely, max_size=3)), max_size=4)
any_calls = st.lists(st.builds(Call, names, st.dictionaries(words, json_values, max_size=2)), max_size=2)
messages = st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "robot", 1]), "content": words})
truths = st.fixed_dictionaries({"ground_truth": st.sampled_from([PLAN + WORDS, PLAN + section(HOTEL), "words", None])})
rows = st.fixed_dictionaries(
    {"reward_model": truths | numbers},
    optional={"prompt": st.lists(messages, max_size=2) | words, "output": words},
)


@given(text=texts, index=st.integers(0, len(PROBLEMS) - 1), num_answers=st.sampled_from([1, 2, 3]))
@settings(max_examples=1000, deadline=None)
def test_any_response_has_a_score(text, index, num_answers):
    gold = PROBLEMS[index]
    scored = score_responses(TASK, [gold], [text], num_answers)
    assert scored.rewards.shape == (1, num_answers, 4)
    assert ((scored.rewards >= 0) & (scored.rewards <= TASK.score(gold, TASK.gold(gold)))).all()
    assert not scored.rewards[~scored.answered].any()
    for answer, row in zip(scored.answers[0], scored.rewards[0], strict=True):
        if answer is not None:
            assert answer in text
            assert np.array_equal(row, TASK.score(gold, answer))


@given(made=some_calls, index=st.integers(0, len(PROBLEMS) - 1), thinks=st.booleans())
@settings(max_examples=1000, deadline=None)
def test_any_calls_have_a_score(made, index, thinks):
    gold = PROBLEMS[index]
    answer = PLAN * thinks + calls_text(made)
    reward = TASK.score(gold, answer)
    assert ((reward >= 0) & (reward <= 1)).all()
    assert reward[0] == (thinks and bool(made) and bool(gold.gold))
    if (reward[1:] == 1).all():
        assert len(made) == len(gold.gold)
    assert np.array_equal(TASK.score_batch([gold], [answer]), reward[None])
    again = TASK.score(gold, PLAN * thinks + calls_text([*made, *made[:1]]))
    if made and (reward == 1).all():
        assert (again[1:] < 1).all()  # one call twice


@given(made=any_calls)
@settings(max_examples=1000, deadline=None)
def test_calls_that_are_written_are_read_again(made):
    text = calls_text(made)
    assert read_answer(text).calls == tuple(made)
    assert parse_calls([json.dumps([{"arguments": c.parameters, "name": c.name} for c in made])]) == tuple(made)
    assert TASK.normalise(text) == TASK.normalise(calls_text(made[::-1]))
    if made:
        gold = problem(*({"name": c.name, "parameters": c.parameters} for c in made))
        assert np.allclose(TASK.score(gold, PLAN + text), 1)
        assert TASK.normalise(PLAN + text) == TASK.normalise(gold.ground_truth)


@given(text=texts)
@settings(max_examples=1000, deadline=None)
def test_any_text_can_be_read(text):
    answer = read_answer(text)
    if answer.calls:
        assert all(c.name for c in answer.calls)
    assert (TASK.extract(text) == text) or TASK.extract(text) is None
    hash(TASK.normalise(text))
    split_response(TASK, text, 3)


@given(row=rows)
@settings(max_examples=1000, deadline=None)
def test_any_row_is_a_problem_or_a_fault(row):
    with contextlib.suppress(ValueError):
        assert "user" in [role for role, _ in parse_row(row).prompt]


@given(truth=texts)
@settings(max_examples=1000, deadline=None)
def test_a_row_that_is_accepted_has_a_gold_answer_that_scores_all_ones(truth):
    row = {"prompt": [{"role": "user", "content": ""}], "reward_model": {"ground_truth": truth}}
    try:
        accepted = parse_row(row)
    except ValueError:
        return
    assert TASK.score(accepted, TASK.gold(accepted)).tolist() == [1, 1, 1, 1]
