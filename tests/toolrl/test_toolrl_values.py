"""When an argument's value matches the expected one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpo_envs.toolrl.values import Form, literal, match


def score(gold: object, made: object) -> float:
    return match(Form(gold), Form(made))


@pytest.mark.parametrize(
    ("gold", "made", "expected"),
    [
        # numbers and booleans, by value
        (27, 27.0, 1),
        (27, "27.0", 1),
        ("27.0", 27, 1),
        ("27.0", " 27 ", 1),
        (1000, "1e3", 1),
        (0.1, "0.1", 1),
        (0, "-0.0", 1),
        (27, 28, 0),
        (27, "27 days", 0),
        ("27", "27 days", 0),
        ("1.5", "15", 0),  # without its point and sign a number is another one
        ("-5", 5, 0),
        (-5, "5", 0),
        (10**200, 10**200 + 1, 0),
        ("007", 7, 0),  # an identifier
        ("007", "007", 1),
        ("+7", 7, 0),
        (True, "True", 1),
        ("false", False, 1),
        ("FALSE", "false", 1),
        (True, 1, 0),
        (1, True, 0),
        (False, 0, 0),
        (0, False, 0),
        ("true", 1, 0),
        (False, "no", 0),
        (True, "yes", 0),
        (False, "", 0),
        (False, None, 0),
        (True, "false", 0),
        ("false", "true", 0),
        # texts, by token F1
        ("New York", "new york.", 1),
        ("New York", "York", 2 / 3),
        ("the hotel", "hotel", 1),
        ("27 days", "27", 2 / 3),
        ("27 days", 27, 0),
        ("minimum", "maximum", 0),
        ("cafe\u0301", "caf\u00e9", 1),  # decomposed and composed
        ("👍🏽", "👍🏽", 1),
        ("שלום עולם", "עולם", 2 / 3),
        ("(([]))", "(([]))", 1),
        ("(([]))", "([])", 0),
        ("(([]))", "brackets", 0),
        ("the", "a", 0),
        ("", "", 1),
        ("", " ", 0),
        ("", None, 0),
        ("1e999", "1e999", 1),  # too large for a number, so it is a text
        ("9" * 301, "9" * 301, 1),
        # lists, by multiset F1 of elements that match in full
        ([1, 2, 2], [2, 1, 2], 1),
        ([1, 2, 2], [1, 2], 4 / 5),
        ([1, 2], ["1", 2.0], 1),
        ([1], [True], 0),
        ([], [], 1),
        ([], [1], 0),
        ([1], [], 0),
        (["New York", "Oslo"], ["oslo", "York, new"], 1),
        (["New York"], ["York"], 0),
        ([{"a": 1}, [2]], [[2.0], {"a": "1"}], 1),
        ([1], 1, 0),
        ([1], "[1]", 0),
        # objects, by the mean over the expected keys
        ({"a": 1, "b": "x y"}, {"b": "x", "a": 1}, (1 + 2 / 3) / 2),
        ({"a": 1, "b": 2}, {"a": 1}, 1 / 2),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1.0}}}, 1),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": 1}}, 0),
        ({}, {}, 1),
        ({}, {"a": 1}, 0),
        ({"a": 1}, [["a", 1]], 0),
        # null
        (None, None, 1),
        (None, "null", 0),
        ("None", None, 0),
        (None, 0, 0),
        (None, {}, 0),
    ],
)
def test_the_table_of_matches(gold, made, expected):
    assert score(gold, made) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("-0.5", -0.5), ("1E2", 100.0), ("True", True), ("falſe", None), ("１２", None), ("1_000", None)]
    + [
        (t, None) for t in ("nan", "inf", "Infinity", "0x10", "1,000", ".5", "5.", "01", "--1", "", "t", "1e999", "yes")
    ],
)
def test_what_a_text_spells(text, value):
    assert literal(text) == value
    assert type(literal(text)) is type(value)


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["true", "False", "27", "27.0", "1e3", "the", "-5", "a b", "B a", "\ud800"]),
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=4,
)


@given(gold=values, made=values)
@settings(max_examples=1000, deadline=None)
def test_a_match_is_a_share_and_nothing_matches_better_than_the_value_itself(gold, made):
    assert 0 <= score(gold, made) <= 1
    assert score(gold, gold) == pytest.approx(1)
    if Form(gold).key == Form(made).key:
        assert score(gold, made) == pytest.approx(1)
    if isinstance(gold, bool) and isinstance(made, int | float) and not isinstance(made, bool):
        assert score(gold, made) == score(made, gold) == 0
