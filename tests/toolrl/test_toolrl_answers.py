"""What is read in an answer, and what cannot be."""

from __future__ import annotations

import json

import gymnasium as gym
import numpy as np
import pytest
from toolrl_helpers import HOTEL, PLAN, TRAIN, WORDS, call, problem, section

import vpo_envs  # noqa: F401
from vpo_envs.scoring import score_responses
from vpo_envs.toolrl import ToolRLTask
from vpo_envs.toolrl.answer_text import read_answer

TASK = ToolRLTask(num_problems=100)
H, T = json.dumps(HOTEL), json.dumps(TRAIN)


def names(text: str) -> list[str] | None:
    calls = read_answer(text).calls
    return None if calls is None else [c.name for c in calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (section(H, T), ["book_hotel", "find_train"]),
        (section(H, "", " \t", T), ["book_hotel", "find_train"]),
        (section(H + T), ["book_hotel", "find_train"]),
        (section(f"[{H}, {T}]"), ["book_hotel", "find_train"]),
        (section(f"[{H}]", T), ["book_hotel", "find_train"]),
        (section(json.dumps(HOTEL, indent=2), T), ["book_hotel", "find_train"]),
        (section(H.replace("parameters", "arguments")), ["book_hotel"]),
        (section('{"name": "ping"}'), ["ping"]),
        (section('{"id": 7, "name": " ping ", "parameters": {}}'), ["ping"]),
        (section(H) + " and " + section(T), ["book_hotel", "find_train"]),
        (section(H) + "<tool_call>" + T, ["book_hotel"]),  # unclosed
        ("< TOOL_CALL >" + H + "</Tool_Call\n>", ["book_hotel"]),
        ("<tool_call>" + H.replace(" ", "\r\n") + "\u2028</tool_call>", ["book_hotel"]),
        (section(), []),
        (section("[]"), []),
        ("no call at all: tool_call", []),
        (f"<think>{section(H)}</think>", []),  # hidden in the thought
        (f"<think>{section(H)}", []),
        (f"{section(H)}</think>{section(T)}", ["find_train"]),  # a thought that began in the prompt
        (f"<response>{section(H)}</response>", ["book_hotel"]),
    ],
)
def test_calls_that_can_be_read(text, expected):
    assert names(text) == expected
    assert read_answer(text).tagged == ("tool_call>" in text.lower().replace(" ", "") and "<think>" not in text)


@pytest.mark.parametrize(
    "inside",
    [
        H[:-1],
        H[: len(H) // 2],
        H + "x",
        H + ",",
        f"{H},\n{T}",
        "```json\n" + H + "\n```",
        H.replace('"', "'"),
        H.replace("false", "False"),
        H.replace("2", "NaN"),
        H.replace("2", "-Infinity"),
        H.replace("2", "1e999"),
        H.replace("2", "9" * 301),
        H.replace("2", "02"),
        H.replace('"nights"', '"city"'),  # a key twice
        '{"name": "a", "name": "b", "parameters": {}}',
        '{"name": "a", "parameters": {}, "arguments": {}}',
        '{"name": "a", "parameters": null}',
        '{"name": "a", "parameters": "{}"}',
        '{"name": "a", "parameters": []}',
        '{"name": "", "parameters": {}}',
        '{"name": null, "parameters": {}}',
        '{"name": ["a"], "parameters": {}}',
        '{"parameters": {}}',
        '"a"',
        "1",
        "[1]",
        f"[[{H}]]",
        "{",
        "[" * 60_000,
        '{"a":' * 10_000,
        '{"name": "a", "parameters": {"x": ' + "[" * 40 + "]" * 40 + "}}",
        '{"name": "a"}' * 101,
        "\x00",
        "\ud800",
    ],
)
def test_a_section_with_anything_else_in_it_cannot_be_read(inside):
    assert names(section(inside)) is None
    assert names(section(H) + section(inside)) is None
    assert TASK.score(problem(HOTEL), PLAN + section(inside)).tolist() == [0, 0, 0, 0]
    assert TASK.score(problem(), PLAN + section(inside)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("text", ["<tool_call>" + H, H + "</tool_call>", "</tool_call>" + H + "<tool_call>"])
def test_a_tag_without_its_partner_is_no_element_and_not_nothing_either(text):
    assert names(text) is None


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        (PLAN + section(H), True),
        (PLAN, True),
        (WORDS, True),
        (section(H), True),
        (section("x"), False),
        ("<think> </think>", False),
        ("<response></response>", False),
        ("<think> a plan", False),
        ("<think> a plan" + section(H), False),
        ("<tool_call>" + H, False),
        ("I would book a hotel.", False),
        ("", False),
    ],
)
def test_a_response_is_an_answer_if_something_in_it_is_complete(response, complete):
    assert TASK.extract(response) == (response if complete else None)


def test_wrap_is_the_inverse_of_extract():
    for i in range(100):
        gold = TASK.gold(TASK[i])
        assert TASK.extract(TASK.wrap(gold)) == gold


def test_numbered_answers_hold_whole_answers_with_responses_of_their_own():
    task = ToolRLTask(calls=(1,))
    env = gym.make("vpo/ToolRL-v0", calls=(1,), num_answers=4)
    env.reset(options={"problem": 0})
    gold = task.gold(task[0])
    bare = gold.partition("\n")[2]
    _, reward, _, _, info = env.step(
        f"<think> I try </think><response> words </response><response_1>{bare}</response_1>"
        f"<response_2>{gold}{WORDS}</response_2><response_2>{bare}</response_2>"
        f"<response_3>{bare.replace(': ', ':')}</response_3><response_4>{gold}"
    )
    assert info["answered"].tolist() == [True, True, False, False]  # a repetition, and a truncated one
    assert info["rewards"][:2].tolist() == [[0, 1, 1, 1], [1, 1, 1, 1]]
    assert reward.tolist() == [1, 1, 1, 1]


def test_answers_with_the_same_calls_are_the_same():
    def same(a: str, b: str) -> bool:
        return TASK.normalise(a) == TASK.normalise(b)

    plan = "<think> another plan </think>"
    assert same(PLAN + section(HOTEL, TRAIN), section(TRAIN) + plan + section(HOTEL))
    assert same(section(call("a", x=27)), section('{"arguments": {"x": "27.0"}, "name": "a"}'))
    assert same(section(call("a", x="New York", y=[1, 2])), section(call("a", y=[2, 1], x="york new")))
    assert same(WORDS, "<response> Other words. </response>")
    assert not same(section(HOTEL), PLAN + section(HOTEL))
    assert not same(section(HOTEL), section(HOTEL) + WORDS)
    assert not same(section(HOTEL), section(HOTEL, HOTEL))
    assert not same(section(call("a", x=1)), section(call("a", x=True)))
    assert not same(section(call("a", x="(")), section(call("a", x=")")))
    assert not same(section(), "")
    assert not same(section(), section("broken"))


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" * 25_000,
        "<think>" * 37_000,
        "<tool_call></tool_call>" * 10_000,
        section("[" * 250_000),
        section('{"name": "a"}\n' * 17_000),
        section('{"name": "a", "parameters": {"x": [' + "1," * 112_000 + "1]}}"),
        section('{"name": "a", "parameters": {"x": "' + "w " * 112_000 + '"}}'),
        section('{"name": "a", "parameters": {"x": ' + "9" * 250_000 + "}}"),
        section(" " * 250_000),
        section('"' + '\\"' * 112_000),
        "< " * 125_000,
    ],
    ids=[
        "openings",
        "thoughts",
        "sections",
        "nested",
        "calls",
        "list",
        "words",
        "digits",
        "spaces",
        "quotes",
        "brackets",
    ],
)
def test_a_quarter_of_a_million_characters_is_read_in_linear_time(text):
    # Quadratic work on so many would take many minutes.
    gold = problem(call("a", x="w " * 100), call("a", x=list(range(100))))
    rewards = TASK.score(gold, PLAN + text)
    assert np.isfinite(rewards).all()
    TASK.normalise(text)
    TASK.extract(text)


def test_the_prompt_asks_for_what_is_read():
    [system, user] = TASK.messages(TASK[0])
    assert (system["role"], user["role"]) == ("system", "user")
    for tag in ("<think>", "</think>", "<tool_call>", "</tool_call>", "<response>", "</response>"):
        assert tag in system["content"]
    many = TASK.messages(TASK[0], 3, [0.5, 0.25, 0.25, 0])
    assert many[0] == system
    assert many[1]["content"].startswith(user["content"] + "\n")
    assert "<response_1> ... </response_1> to <response_3> ... </response_3>" in many[1]["content"]
    assert many[1]["content"].endswith("format 50%, tool_name 25%, arg_key 25%, arg_value 0%.")
    assert TASK.messages(TASK[0]) == [system, user]


@pytest.mark.parametrize("inside", ["", "hello", "<response>x", "<think>", "</think>", "<tool_call>"])
def test_what_is_no_answer_alone_is_none_in_a_numbered_tag(inside):
    task = ToolRLTask(calls=0)
    for response, m in ((inside, 1), (f"<response_1>{inside}</response_1>", 3)):
        scored = score_responses(task, [task[0]], [response], m)
        assert not scored.answered.any()
        assert not scored.rewards.any()
