"""Splitting a response into answers: what counts, what does not, and that joining is the inverse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpo_envs.answers import (
    answer_spans,
    ask_for_answers,
    check_num_answers,
    describe_weights,
    elements,
    join_answers,
    last_element,
    prompt_text,
    split_response,
    without_reasoning,
)


class Routes:
    """The part of a task that splitting needs."""

    answer_tag = "route"

    def extract(self, response: str) -> str | None:
        return last_element(without_reasoning(response), "answer")

    def wrap(self, answer: str) -> str:
        return f"<answer>{answer}</answer>"

    def is_answer(self, answer: str) -> bool:
        return answer != "none"

    def normalise(self, answer: str) -> str:
        return answer.strip().lower()


ROUTES = Routes()

# Any text without "<" cannot open or close a tag by itself.
plain_text = st.text(st.characters(exclude_characters="<"), max_size=40).filter(ROUTES.is_answer)


@given(st.lists(plain_text, min_size=1, max_size=12, unique_by=ROUTES.normalise))
def test_splitting_undoes_joining(answers: list[str]) -> None:
    assert split_response(ROUTES, join_answers(ROUTES, answers), len(answers)) == answers


@given(st.text(st.sampled_from("<>/_ route123answer\n"), max_size=200), st.integers(1, 4))
def test_splitting_never_raises_and_answers_are_part_of_the_text(response: str, num_answers: int) -> None:
    answers = split_response(ROUTES, response, num_answers)
    assert len(answers) == num_answers
    assert all(a is None or a in response for a in answers)


@given(st.lists(plain_text, min_size=2, max_size=5, unique_by=ROUTES.normalise), st.data())
def test_a_truncated_response_loses_only_answers_that_are_not_complete(answers: list[str], data: st.DataObject) -> None:
    response = join_answers(ROUTES, answers)
    cut = data.draw(st.integers(0, len(response)))
    for i, answer in enumerate(split_response(ROUTES, response[:cut], len(answers))):
        complete = response.index(f"</route_{i + 1}>") + len(f"</route_{i + 1}>") <= cut
        assert answer == (answers[i] if complete else None)


@pytest.mark.parametrize(
    ("response", "answers"),
    [
        ("<route_1>UP</route_1> <route_2>DOWN</route_2>", ["UP", "DOWN"]),
        ("<route_2>DOWN</route_2> then <route_1>UP</route_1>", ["UP", "DOWN"]),  # any order
        ("< ROUTE_1 >UP</ Route _ 1 >", ["UP", None]),  # case and white space
        ("<route_01>UP</route_1>", ["UP", None]),  # leading zeros
        ("<route_1>UP</route_1><route_1>LEFT</route_1>", ["UP", None]),  # the first of a number
        ("<route_1>UP</route_1><route_2> up </route_2>", ["UP", None]),  # the same answer counts once
        ("<route_1></route_1>", ["", None]),  # an empty answer is an answer
        ("<route_3>UP</route_3><route_0>UP</route_0>", [None, None]),  # numbers that were not asked for
        ("<route_1>UP", [None, None]),  # unclosed
        ("<route_1>UP <route_2>DOWN</route_2>", [None, "DOWN"]),  # unclosed, the next one is whole
        ("<route_1>UP</route_2>", [None, None]),  # closed by another
        ("<route_1><route_2>DOWN</route_2></route_1>", [None, "DOWN"]),  # swallowing another
        ("<route_1>draft <route_1>UP</route_1>", ["UP", None]),  # opened again: the inner one
        ("<answer>UP</answer>", [None, None]),  # the single-answer format does not count here
        ("UP DOWN", [None, None]),  # outside tags is reasoning
        ("<route>UP</route>", [None, None]),  # no number
        ("<routes_1>UP</routes_1>", [None, None]),
        ("<route_\uff11>UP</route_\uff11>", [None, None]),  # a fullwidth digit
        ("<route_\u0661>UP</route_\u0661>", [None, None]),  # an Arabic one
        ("<route_1\u00a0>UP</route_1>", [None, None]),  # no space of ASCII
        ("<think><route_1>UP</route_1></think><route_1>LEFT</route_1>", ["LEFT", None]),  # a draft in the thought
        ("<think><route_1>UP</route_1>", [None, None]),  # cut off while thinking
        ("<route_1>UP</route_1></think><route_1>LEFT</route_1>", ["LEFT", None]),  # the thought began in the prompt
        ("<route_1></think><route_1>LEFT</route_1>", ["LEFT", None]),
        ("<route_1><think>a</think>UP</route_1>", ["<think>a</think>UP", None]),  # an answer's own thought
        ("<route_1>UP</route_1><think><route_2>A</route_2></think><route_2>B</route_2>", ["UP", "B"]),
        ("", [None, None]),
    ],
)
def test_two_answers(response: str, answers: list[str | None]) -> None:
    assert split_response(ROUTES, response, 2) == answers


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<answer>UP</answer>", "UP"),
        ("<answer>UP</answer> no, <answer>DOWN</answer>", "DOWN"),  # the last complete one
        ("<answer>UP</answer> no, <answer>DOWN", "UP"),
        ("<answer>one <answer>two</answer>", "two"),
        ("<ANSWER>\nUP\n</ answer >", "\nUP\n"),
        ("</answer>UP<answer>", None),
        ("<an\u017fwer>UP</an\u017fwer>", None),  # a long s
        ("<answer>UP</an\u017fwer></answer>", "UP</an\u017fwer>"),
        ("UP", None),
    ],
)
def test_one_answer(response: str, answer: str | None) -> None:
    assert split_response(ROUTES, response, 1) == [answer]


def test_elements_come_in_order_with_their_numbers() -> None:
    text = "<a_2>x</a_2><a_1>y</a_1><a_2>z</a_2>"
    assert list(elements(text, "a", numbered=True)) == [("2", "x"), ("1", "y"), ("2", "z")]


@pytest.mark.parametrize(
    "piece",
    ["<", "<route_1>", "<" + " " * 50, "</route_", "<route_" + "1" * 50, "<route_1", "<think></think>", "</think>"],
)
def test_splitting_hostile_text_ends(piece: str) -> None:
    # A megabyte and more: a search that is quadratic in the text would not come back from this.
    text = piece * ((1 << 20) // len(piece))
    assert split_response(ROUTES, text + "<route_2>UP</route_2>", 2) == [None, "UP"]


def test_the_request_names_every_tag() -> None:
    request = ask_for_answers("route", 3, "routes")
    assert "3 routes" in request
    assert "<route_1> ... </route_1>" in request
    assert "</route_3>" in request
    # A model that repeats the request word for word gives one answer, which says nothing.
    assert split_response(ROUTES, request, 3) == [" ... ", None, None]


def test_weights_are_written_as_percents() -> None:
    assert describe_weights(["gold", "speed"], [0.25, 0.75]) == "What counts: gold 25%, speed 75%."


def test_prompt_text_joins_the_contents() -> None:
    assert prompt_text([{"role": "system", "content": "A"}, {"role": "user", "content": "B"}]) == "A\n\nB"


@pytest.mark.parametrize("bad", [0, -3, True, 2.0, "2", None, 1001])
def test_num_answers_is_checked(bad: object) -> None:
    with pytest.raises(ValueError, match=r"my/Id-v0: num_answers must be a whole number from 1 to 1000"):
        check_num_answers(bad, "my/Id-v0")  # type: ignore[arg-type]
    assert check_num_answers(1000, "my/Id-v0") == 1000
    assert type(check_num_answers(np.int64(2), "my/Id-v0")) is int


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a", "a"),
        ("a<think>b</think>c", "ac"),
        ("a< THINK >b</ Think >c<think>d</think>e", "ace"),
        ("<think>a<think>b</think>c", "c"),
        ("a<think>b", "a"),  # cut off while thinking
        ("a</think>b", "b"),  # the thought began in the prompt
        ("<thinker>a</thinker>", "<thinker>a</thinker>"),
    ],
)
def test_reasoning_is_left_out(text: str, kept: str) -> None:
    assert without_reasoning(text) == kept


def test_an_answer_in_the_reasoning_is_none() -> None:
    assert split_response(ROUTES, "<think><answer>UP</answer></think>", 1) == [None]
    assert split_response(ROUTES, "<think><answer>UP</answer></think><answer>DOWN</answer>", 1) == ["DOWN"]


def test_an_element_without_an_answer_in_it_is_absent() -> None:
    response = "<route_1>none</route_1><route_2>UP</route_2><route_1>DOWN</route_1>"
    assert split_response(ROUTES, response, 2) == ["DOWN", "UP"]


def written(response: str, num_answers: int) -> list[str | None]:
    """The texts at the spans."""
    spans = answer_spans(ROUTES, response, num_answers)
    return [None if span is None else response[slice(*span)] for span in spans]


@pytest.mark.parametrize(
    ("response", "texts"),
    [
        ("first <route_1>UP</route_1>\n<route_2> UP DOWN </route_2>.", ["<route_1>UP</route_1>",
                                                                       "<route_2> UP DOWN </route_2>"]),
        ("< Route_02 >UP</ROUTE_2><route_3>no third</route_3>", [None, "< Route_02 >UP</ROUTE_2>"]),
        ("<route_1>UP</route_1><route_2>up</route_2>", ["<route_1>UP</route_1>", "<route_2>up</route_2>"]),  # repeated
        ("<route_1>none</route_1><route_1>UP</route_1>", ["<route_1>UP</route_1>", None]),
        ("<route_1>none</route_1><route_1>none</route_1>", ["<route_1>none</route_1>", None]),  # holds no answer
        ("<think><route_1>UP</route_1></think><route_2>UP</route_2>", [None, "<route_2>UP</route_2>"]),
        ("<route_1>a</route_1></think><route_2><think>x</think>UP</route_2>",
         [None, "<route_2><think>x</think>UP</route_2>"]),
        ("<route_1>UP</route_1><route_2>UP DOWN", ["<route_1>UP</route_1>", None]),  # cut off
        ("UP DOWN", [None, None]),
    ],
)  # fmt: skip
def test_where_answers_stand(response: str, texts: list[str | None]) -> None:
    assert written(response, 2) == texts


@given(st.text(st.sampled_from("<>/_ route12 \n"), max_size=200), st.integers(1, 4))
def test_every_answer_stands_in_its_span_and_no_two_overlap(response: str, num_answers: int) -> None:
    spans = answer_spans(ROUTES, response, num_answers)
    for answer, text in zip(split_response(ROUTES, response, num_answers), written(response, num_answers), strict=True):
        assert answer is None or (text is not None and answer in text)
    taken = sorted(span for span in spans if span is not None)
    assert all(end <= first for (_, end), (first, _) in itertools.pairwise(taken))


def test_a_single_answer_is_the_whole_response() -> None:
    assert answer_spans(ROUTES, "Go <answer>UP</answer>", 1) == [(0, 22)]
    assert answer_spans(ROUTES, "Go UP", 1) == [None]
