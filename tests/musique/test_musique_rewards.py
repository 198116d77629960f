"""What an answer earns, and what it does not."""

from __future__ import annotations

import time

import numpy as np
import pytest
from musique_helpers import paragraph, row, steps

from vpo_envs.answers import split_response
from vpo_envs.musique import MuSiQueTask, Problem
from vpo_envs.musique.problems import problem_of
from vpo_envs.musique.rewards import citations
from vpo_envs.scoring import score_responses

TASK = MuSiQueTask(num_problems=1)
TWO_HOPS = problem_of(row())  # paragraphs 2 and 0, answer "Low Town" or "Lowton"
FOUR_HOPS = problem_of(
    row(paragraphs=[paragraph(i, supporting=True) for i in range(20)], question_decomposition=steps(7, 19, 3, 11))
)
SHARED = problem_of(
    row(paragraphs=[paragraph(i, supporting=True) for i in range(20)], question_decomposition=steps(7, 19, 7))
)


def score(answer: str, problem: Problem = TWO_HOPS) -> list[float]:
    return [round(float(value), 3) for value in TASK.score(problem, answer)]


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        ("<support>2, 0</support><answer>Low Town</answer>", [1, 1, 1, 1, 1]),
        ("<answer>the low town!</answer> <support>0 2</support>", [1, 1, 1, 1, 1]),  # no order, SQuAD's normalisation
        ("<support>2, 0</support><answer>Lowton</answer>", [1, 1, 1, 1, 1]),  # an alias
        ("<support>2</support><answer>Low Town</answer>", [1, 0, 1, 1, 1]),
        ("<support>0</support><answer>Low Town</answer>", [0, 1, 1, 1, 1]),
        ("<support>1</support><answer>Low Town</answer>", [0, 0, 1, 1, 1]),
        ("<answer>Low Town</answer>", [0, 0, 1, 1, 1]),
        ("<support>2, 0</support><answer>High Town</answer>", [1, 1, 1, 1, 0.5]),
        ("<support>2, 0</support><answer>Low Town or High Town</answer>", [1, 1, 1, 1, 0.571]),  # 2 of 5 + 2 words
        ("<support>2, 0</support><answer>Rome</answer>", [1, 1, 1, 1, 0]),
        ("<support>2, 0</support><answer>Low Low Town Town</answer>", [1, 1, 1, 1, 0.667]),
        ("<support>2, 0</support>", [0, 0, 0, 0, 0]),
        ("<support>2, 0</support><answer> \n </answer>", [0, 0, 0, 0, 0]),
        ("<support>2, 0</support><answer>Low Town", [0, 0, 0, 0, 0]),  # cut off
        ("<support>2, 0<answer>Low Town</answer>", [0, 0, 1, 1, 1]),  # no closing tag: nothing is cited
        ("2, 0 Low Town", [0, 0, 0, 0, 0]),
        ("", [0, 0, 0, 0, 0]),
    ],
)
def test_rewards_by_hand(answer, reward):
    assert score(answer) == reward


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        ("<answer>Rome</answer><answer>Low Town</answer><support>1</support><support>2 0</support>", [1, 1, 1, 1, 1]),
        ("<answer>Low Town</answer><answer>Rome</answer><support>2 0</support><support>1</support>", [0, 0, 1, 1, 0]),
        ("<answer>Low Town</answer><support>2 0</support><answer></answer>", [0, 0, 0, 0, 0]),
        ("<answer>Low Town</answer><support>2 0</support><answer>Ro", [1, 1, 1, 1, 1]),
        ("<ANSWER >Low Town</ answer><Support>2 0</SUPPORT>", [1, 1, 1, 1, 1]),
    ],
)
def test_of_several_elements_the_last_complete_one_counts(answer, reward):
    assert score(answer) == reward


@pytest.mark.parametrize(
    ("response", "reward"),
    [
        ("<think>maybe</think><support>2 0</support><answer>Low Town</answer>", [1, 1, 1, 1, 1]),
        ("<support>2 0</support><answer>Low Town</answer><think>or <answer>Rome</answer></think>", [1, 1, 1, 1, 1]),
        ("<think><support>2 0</support></think><answer>Low Town</answer>", [0, 0, 1, 1, 1]),
        ("<think><support>2 0</support><answer>Low Town</answer></think>", None),
        ("<think>hm <support>2 0</support><answer>Low Town</answer>", None),
        ("hm <support>2 0</support><answer>Low Town</answer></think><answer>Rome</answer>", [0, 0, 1, 1, 0]),
    ],
)
def test_what_is_only_thought_is_neither_cited_nor_answered(response, reward):
    [answer] = split_response(TASK, response, 1)
    assert (answer is None) == (reward is None)
    assert score(response) == (reward or [0] * 5)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("3, 7", "3 7"),
        ("[3][7] (11)", "3 7 11"),
        ("3 and 7; see 11\n19", "3 7 11 19"),
        ("7 7 07 007 3", "7 3"),  # repeated numbers take one place
        ("1-20", "1 20"),  # no ranges
        ("-3 4.5", "3 4 5"),
        ("0 00", "0"),
        ("19 18 17 16 15 14", "19 18 17 16"),  # the first four
        ("99999999999999999999 1 2 3 4", "99999999999999999999 1 2 3"),  # nonsense takes a place
        ("٣ ７ ² ③ Ⅳ 五", ""),  # other digits than 0 to 9 separate
        ("three", ""),
        ("", ""),
    ],
)
def test_citations(text, cited):
    assert " ".join(citations(text)) == cited


@pytest.mark.parametrize(
    ("support", "hops"),
    [
        ("7 19 3 11", [1, 1, 1, 1]),
        ("11 3 19 7", [1, 1, 1, 1]),
        (" ".join(map(str, range(20))), [0, 0, 1, 0]),  # everything: 0 1 2 3 count
        ("0-19", [0, 1, 0, 0]),
        ("7 19 3 5 11", [1, 1, 1, 0]),  # a wrong fourth keeps the right fifth out
        ("77 78 79 80 7 19 3 11", [0, 0, 0, 0]),  # so do numbers that no paragraph has
        ("7 7 7 7 7 19", [1, 1, 0, 0]),
        ("9" * 30_000, [0, 0, 0, 0]),
    ],
)
def test_citing_more_does_not_pay(support, hops):
    assert score(f"<support>{support}</support><answer>Low Town</answer>", FOUR_HOPS) == [*hops, 1]


def test_two_hops_may_need_one_paragraph():
    assert score("<support>7</support><answer>Low Town</answer>", SHARED) == [1, 0, 1, 1, 1]
    assert score("<support>19</support><answer>Low Town</answer>", SHARED) == [0, 1, 0, 1, 1]
    assert TASK.gold(SHARED) == "<support>7 19</support><answer>Low Town</answer>"
    assert score(TASK.gold(SHARED), SHARED) == [1] * 5


@pytest.mark.parametrize(
    ("gold", "text", "f1"),
    [
        ("A", "A", 1),  # nothing is left of it by SQuAD's rules
        ("A", "a", 1),
        ("A", "the", 0),
        ("A", "the group A", 0),
        ("The Who", "who", 1),
        ("!", "!", 1),
        ("Éire", "éire", 1),  # NFC and NFD
        ("東京", "東京", 1),
        ("12,500", "12500", 1),
        ("🦉", "🦉", 1),
        ("שלום", "שלום", 1),
        ("x" * 5000, "x" * 5000, 1),
        (" " * 5000 + "y", "y", 1),
        ("y", " " * 5000 + "y" + " " * 2000 + "z", 2 / 3),  # white space hides nothing
        ("y", "y" + "y" * 2000 + " z", 0),  # 2,000 characters are compared, of which no word is the answer
    ],
)
def test_f1_of_unusual_answers(gold, text, f1):
    problem = problem_of(row(answer=gold, answer_aliases=[]))
    assert score(f"<answer>{text}</answer>", problem)[4] == pytest.approx(f1, abs=1e-3)
    assert TASK.score(problem, TASK.gold(problem)).tolist() == [1] * 5


def test_several_answers_are_scored_each_and_count_once():
    response = (
        "Low Town it is, <support>2 0</support>"
        "<response_1>First ... <support>2</support><answer>Low Town</answer></response_1>"
        "<response_2><support>0</support><answer>Rome</answer></response_2>"
        "<response_3> <support>02</support>. <answer>town low</answer></response_3>"  # the same as the first
        "<response_4><support>2 0</support></response_4>"
        "<response_5><support>2 0</support><answer>Low Town</answer>"
    )
    scored = score_responses(TASK, [TWO_HOPS], [response], 5)
    assert scored.answered[0].tolist() == [True, True, False, False, False]
    assert scored.rewards[0, :4].tolist() == [[1, 0, 1, 1, 1], [0, 1, 1, 1, 0], [0] * 5, [0] * 5]
    assert scored.best[0].tolist() == [1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            "<support>3 7</support><answer>Low Town</answer>",
            "x <support>7, 3</support> <answer>low  town.</answer>",
            True,
        ),
        ("<support>3 7</support><answer>Low Town</answer>", "<support>3 7</support><answer>Town Low</answer>", True),
        ("<support>3 7</support><answer>Low Town</answer>", "<support>3</support><answer>Low Town</answer>", False),
        ("<support>3 7</support><answer>Low Town</answer>", "<support>3 7</support><answer>Low</answer>", False),
        ("<support>3 7</support>", "nothing at all", True),
    ],
)
def test_which_answers_are_the_same(one, other, same):
    assert (TASK.normalise(one) == TASK.normalise(other)) == same


def test_the_reference_weights_are_the_papers():
    assert TASK.reference_weights == pytest.approx(np.array([1, 1, 1, 1, 3]) / 7)
    assert [o.name for o in TASK.objectives] == ["hop_1", "hop_2", "hop_3", "hop_4", "answer_f1"]


HOSTILE = {
    "openings": "<answer>" * 8192,
    "elements": "<answer>a</answer>" * 3640,
    "digits": "<support>" + "9" * 65_000 + "</support><answer>x</answer>",
    "numbers": "<support>" + "1 " * 32_000 + "</support><answer>x</answer>",
    "words": "<answer>" + "a b " * 16_000 + "</answer>",
    "thoughts": "<think></think>" * 4369,
    "brackets": "< " * 32_768,
    "ligatures": "<answer>" + "\ufdfa" * 65_000 + "</answer>",
    "combining marks": "<answer>a" + "\u0301\u0323" * 32_000 + "</answer>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_scored_in_no_time(name):
    # Far above what it takes (up to 40 ms), far below what quadratic work would: 5 seconds and more.
    start = time.process_time()
    assert TASK.score(TWO_HOPS, HOSTILE[name]).shape == (5,)
    assert time.process_time() - start < 1
