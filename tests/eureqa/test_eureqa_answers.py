"""What counts as an answer, and which names are in it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from eureqa_helpers import GOLD, ROW, answer_of, row

import vpo_envs  # noqa: F401
from vpo_envs.eureqa import EureqaTask
from vpo_envs.eureqa.problems import parse_row

TASK = EureqaTask()
CHAIN = parse_row(ROW)
ALL = answer_of(*GOLD)


def rewards(response: str) -> list[float] | None:
    answer = TASK.extract(response)
    return None if answer is None else TASK.score(CHAIN, answer).tolist()


@pytest.mark.parametrize(
    "response",
    [
        ALL,
        f"First I look at the ship.\n{ALL}\nThat is all.",
        "\n".join(answer_of(name, letters=x) for x, name in reversed(list(zip("ABCDE", GOLD, strict=True)))),
        ALL.replace("entity", "ENTITY").replace("<", "< ").replace(">", " >"),
        f"<think>{answer_of('x', 'x', 'x', 'x', 'x')}</think>{ALL}",
        answer_of("ann archer", "long_tide", " MIST  ISLAND\n", "a Jan ODell!", "ördög 1599"),
        answer_of("**Ann Archer**", "“The Long Tide”".replace("“", '"').replace("”", '"'), *GOLD[2:]),
        answer_of("wrong", *GOLD[1:]) + answer_of(GOLD[0], letters="A"),  # the last one counts
        ALL + "<entity_A>some",  # an unclosed one does not
        answer_of("Ａｎｎ Ａｒｃｈｅｒ", *GOLD[1:]),  # full width
        answer_of(*GOLD[:4], "O\u0308rdo\u0308g (1599)"),  # decomposed letters
    ],
    ids=["plain", "prose", "order", "tags", "thought", "normalised", "marks", "corrected", "cut off", "wide", "NFD"],
)
def test_all_five_names_in_any_order_and_spelling(response):
    assert rewards(response) == [1, 1, 1, 1, 1]


BROKEN = {
    "another name": ("Bob Archer", 0),
    "several names": ("Ann Archer, Bob Archer, Eve Archer", 0),
    "alternatives": ("Ann Archer or Bob Archer", 0),
    "an explanation": ("Ann Archer, who wrote it", 0),
    "a part": ("Archer", 0),
    "empty": ("", 0),
    "white space": (" \n ", 0),
    "only an article": ("the", 0),
    "only punctuation": ("?!", 0),
    "without the accent": ("Ordog (1599)", 4),
    "the mask": ("Person 1", 0),
    "words in another order": ("Tide Long", 1),
    "another entity's name": ("Mist Island", 3),
    "too long to be a name": ("Ann Archer" + " the" * 1000, 0),
}


@pytest.mark.parametrize(("text", "layer"), BROKEN.values(), ids=BROKEN)
def test_one_broken_name_loses_exactly_its_component(text, layer):
    names = [text if i == layer else name for i, name in enumerate(GOLD)]
    assert rewards(answer_of(*names)) == [float(i != layer) for i in range(5)]


@pytest.mark.parametrize("layer", range(5))
def test_one_broken_element_loses_exactly_its_component(layer):
    elements = [answer_of(name, letters=x) for x, name in zip("ABCDE", GOLD, strict=True)]
    lost = [float(i != layer) for i in range(5)]
    x, name = "ABCDE"[layer], GOLD[layer]
    for element in (
        "",
        f"<entity_{x}>{name}",
        f"{name}</entity_{x}>",
        f"<entity_{x}>{name}</entity_{x}",
        f"<entity_{x}>{name}</entity_F>",
        f"<entity_{x}/>{name}",
        f"<entity_{x}1>{name}</entity_{x}1>",
        f"<entity{x}>{name}</entity{x}>",
        f"<think>{elements[layer]}</think>",
        f"{elements[layer]}<entity_{x}>other</entity_{x}>",
        f"{elements[layer]}<entity_{x}></entity_{x}>",
    ):
        text = "".join(element if i == layer else e for i, e in enumerate(elements))
        assert rewards(text) == lost, element


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("", None),
        ("Ann Archer", None),
        ("<answer>Ann Archer</answer>", None),
        ("<entity_A>Ann Archer", None),
        ("<entity_F>Oak Company</entity_F>", None),
        (f"<think>{ALL}</think>", None),
        (f"<think>{ALL}", None),
        (f"{ALL}</think>", None),  # the thought began in the prompt
        (f"{ALL}</think><entity_B>The Long Tide</entity_B>", [0, 1, 0, 0, 0]),
        ("<entity_A></entity_A>", [0, 0, 0, 0, 0]),
        ("<entity_A>Ann Archer<entity_B>The Long Tide</entity_B></entity_A>", [0, 1, 0, 0, 0]),
        ("<entity_A><entity_A>Ann Archer</entity_A></entity_A>", [1, 0, 0, 0, 0]),
        ("<entity_A>Ann Archer</entity_B>The Long Tide</entity_B>", None),
        ("<еntity_A>Ann Archer</еntity_A>", None),  # a Cyrillic e
        ("<entity_Ａ>Ann Archer</entity_Ａ>", None),  # full width
    ],
)
def test_broken_nested_and_hidden_elements(response, expected):
    assert rewards(response) == expected


def test_answers_that_say_the_same_count_once():
    env = gym.make("vpo/EUREQA-v0", num_answers=4)
    env.reset(options={"problem": 0})
    task = env.unwrapped.task
    names = task[0].entities[:5]
    gold, shouted = answer_of(*names), "So: " + answer_of(*[f" {n.upper()}. " for n in names])
    first, last = answer_of(names[0], letters="A"), answer_of(names[4], letters="E")
    _, reward, _, _, info = env.step(
        f"<think>hm</think><solution_1>{gold}</solution_1><solution_2>{shouted}</solution_2>"
        f"<solution_3>{first}</solution_3>{gold}<solution_4>{last}"
    )
    assert info["answered"].tolist() == [True, False, True, False]
    assert info["rewards"].tolist() == [[1] * 5, [0] * 5, [1, 0, 0, 0, 0], [0] * 5]
    assert reward.tolist() == [1] * 5
    assert task.normalise(first) != task.normalise(last)
    assert task.normalise("") == task.normalise("<entity_A> </entity_A>")


def test_several_answers_are_scored_as_one_is_and_thoughts_in_them_do_not_count():
    env = gym.make("vpo/EUREQA-v0", num_answers=2)
    env.reset(options={"problem": 0})
    gold = env.unwrapped.task.gold(env.unwrapped.task[0])
    _, _, _, _, info = env.step(f"<solution_1><think>{gold}</think></solution_1><solution_2>{gold}</solution_2>")
    assert info["rewards"].tolist() == [[0] * 5, [1] * 5]
    for text in (gold, f"<solution_1>{gold}", f"<solution_3>{gold}</solution_3>"):
        env.reset(options={"problem": 0})
        assert not env.step(text)[4]["answered"].any()


HOSTILE = {
    "openings": "<entity_A>" * 6553,
    "elements": "<entity_A>x</entity_A>" * 2978,
    "spaces": "<" + " " * 65_535,
    "brackets": "< " * 32_768,
    "half tags": "<entity_A" * 7281,
    "long name": "<entity_A>" + "x " * 32_757 + "</entity_A>",
    "marks to reorder": "<entity_A>a" + "\u0301\u0323" * 32_757 + "</entity_A>",  # quadratic in Unicode's normal form
    "expanding letters": "<entity_A>" + "\ufdfa" * 65_515 + "</entity_A>",
    "underscores": "<entity_A>" + "_" * 65_515 + "</entity_A>",
    "thoughts": "<think>" * 9362,
    "zeros": "\x00" * 65_536,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_read_in_linear_time(text):
    start = time.process_time()
    assert not TASK.score(CHAIN, text).any()
    TASK.normalise(text)
    TASK.extract(text)
    assert time.process_time() - start < 1  # a few milliseconds; quadratic work takes seconds


def test_the_prompt_shows_the_narrative_and_asks_for_what_is_parsed():
    chain = TASK[0]
    one, three = (TASK.messages(chain, m)[0]["content"] for m in (1, 3))
    for prompt in (one, three):
        assert "\n".join(chain.sentences) in prompt
        assert "<entity_E>name</entity_E>" in prompt
        assert chain.entities[5] in prompt
        assert " is [entity" not in prompt  # the masks are our own names
    assert "<solution_1>" in three
    assert "<solution_3>" in three
    assert "solution" not in one
    assert three.startswith(one)  # the part that depends on the number of answers comes last
    weighted = TASK.messages(chain, 1, [0.5, 0.25, 0.25, 0, 0])[0]["content"]
    assert weighted == one + "\nWhat counts: entity_A 50%, entity_B 25%, entity_C 25%, entity_D 0%, entity_E 0%."


def test_masks_of_another_form_are_explained_and_a_hidden_leaf_is_named():
    [message] = TASK.messages(CHAIN)
    legend = "Here entity_A is Person 1; entity_B is novel 2; entity_C is island 3; entity_D is sailor 4; "
    assert f"\n{legend}entity_E is ship 5.\n" in message["content"]
    assert all(sentence in message["content"] for sentence in ROW["question"])

    masked = [sentence.replace("the Oak Company", "company 6") for sentence in ROW["question"]]
    [message] = TASK.messages(parse_row(row(question=masked)))
    assert f"{legend}entity_E is ship 5; company 6 is Oak Company.\n" in message["content"]

    own = row(entity_masks=[f"entity {x}" for x in "ABCDEF"], question=[f"entity {x} is big." for x in "ABCDE"])
    [message] = TASK.messages(parse_row(own))
    assert "Here the name that is given is Oak Company.\n" in message["content"]


def test_the_solution_is_never_in_a_prompt_or_info():
    env = gym.make("vpo/EUREQA-v0", countries=24)
    for seed in range(20):
        prompt, info = env.reset(seed=seed)
        assert set(info) == {"problem", "messages", "num_answers"}
        chain = env.unwrapped.task[info["problem"]]
        assert not env.unwrapped.task.score(chain, prompt).any()  # the prompt itself is no solution


def test_rewards_of_a_batch_have_the_promised_shape_and_type():
    batch = TASK.score_batch([CHAIN, CHAIN], [ALL, ""])
    assert batch.dtype == np.float32
    assert batch.tolist() == [[1] * 5, [0] * 5]
    assert TASK.score_batch([], []).shape == (0, 5)
    assert TASK.reference_weights.tolist() == [0.2] * 5
    assert [o.name for o in TASK.objectives] == [f"entity_{x}" for x in "ABCDE"]


def test_the_example_of_the_documentation_page_is_true():
    page = (Path(__file__).parents[2] / "docs" / "eureqa.md").read_text()
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    [shown] = re.findall(r"```\n(Who .*?)\n```", page, re.DOTALL)
    seen: dict[str, Any] = {"print": lambda _: None}
    exec(program, seen)
    assert seen["prompt"] == shown
    assert seen["info"]["rewards"].tolist() == [[1, 0, 0, 1, 1], [0, 1, 1, 0, 0]]
    assert seen["reward"].tolist() == [1, 0, 0, 1, 1]
