"""The reward of an answer: worked out by hand, and against a slow reference."""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest
from toolrl_helpers import HOTEL, PLAN, TRAIN, WORDS, call, problem, section

from vpo_envs.toolrl import ToolRLTask
from vpo_envs.toolrl.answer_text import Call
from vpo_envs.toolrl.rewards import align, key_overlap, value_match

TASK = ToolRLTask()
TWO = problem(HOTEL, TRAIN)
CITY = call("book_hotel", city="Oslo", nights=2)
OSLO, ROME = call("swift_code", code="MIDLGB22"), call("swift_code", code="CITIUS33")


def score(*calls: object, gold=TWO, plan: str = PLAN) -> list[float]:
    return [pytest.approx(v) for v in TASK.score(gold, plan + section(*calls)).tolist()]


def changed(old: dict, name: str | None = None, **parameters: object) -> dict:
    return call(name or old["name"], **{**old["parameters"], **parameters})


@pytest.mark.parametrize(
    ("calls", "reward"),
    [
        ([HOTEL, TRAIN], (1, 1, 1, 1)),
        ([TRAIN, HOTEL], (1, 1, 1, 1)),
        # one thing broken loses exactly the component it belongs to
        ([changed(HOTEL, "book_room"), TRAIN], (1, 1 / 2, 1, 1)),
        ([TRAIN, changed(HOTEL, "find_train")], (1, 1 / 2, 1, 1)),
        ([changed(HOTEL, guests=3), TRAIN], (1, 1, (6 / 7 + 1) / 2, 1)),
        ([changed(HOTEL, nights=3), TRAIN], (1, 1, 1, (2 / 3 + 1) / 2)),
        ([changed(HOTEL, breakfast=0), TRAIN], (1, 1, 1, (2 / 3 + 1) / 2)),
        ([HOTEL, changed(TRAIN, destination="York")], (1, 1, 1, (1 + (1 + 1 / 2) / 2) / 2)),
        # a missing or misnamed parameter has no value either
        ([CITY, TRAIN], (1, 1, (4 / 5 + 1) / 2, (2 / 3 + 1) / 2)),
        ([call("book_hotel", town="Oslo", nights=2, breakfast=False), TRAIN], (1, 1, (2 / 3 + 1) / 2, (2 / 3 + 1) / 2)),
        # a call without its arguments gains nothing by it
        ([call("book_hotel"), TRAIN], (1, 1, 1 / 2, 1 / 2)),
        (['{"name": "book_hotel"}', TRAIN], (1, 1, 1 / 2, 1 / 2)),
        # calls that are missing, repeated or too many
        ([HOTEL], (1, 2 / 3, 1 / 2, 1 / 2)),
        ([HOTEL, TRAIN, TRAIN], (1, 4 / 5, 2 / 3, 2 / 3)),
        ([HOTEL, TRAIN, call("ping")], (1, 4 / 5, 2 / 3, 2 / 3)),
        ([HOTEL, HOTEL], (1, 1 / 2, 1 / 2, 1 / 2)),
        ([call("ping")], (1, 0, 0, 0)),
        ([], (0, 0, 0, 0)),
    ],
)
def test_a_broken_gold_answer_loses_what_it_should(calls, reward):
    assert score(*calls) == list(reward)


@pytest.mark.parametrize(
    ("plan", "format_"),
    [("", 0), ("<think></think>", 0), ("<think> \n </think>", 0), ("</think>", 0), ("<THINK>x</think >", 1)],
)
def test_without_a_thought_only_the_format_is_lost(plan, format_):
    assert score(HOTEL, TRAIN, plan=plan) == [format_, 1, 1, 1]
    assert TASK.score(problem(), plan + WORDS).tolist() == [format_, 1, 1, 1]


def test_a_thought_that_never_ends_hides_the_calls():
    assert score(HOTEL, TRAIN, plan="<think> so") == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        (PLAN + WORDS, (1, 1, 1, 1)),
        (PLAN, (1, 1, 1, 1)),
        (WORDS, (0, 1, 1, 1)),
        (PLAN + section(HOTEL) + WORDS, (0, 0, 0, 0)),
        (PLAN + section("[]") + WORDS, (0, 1, 1, 1)),  # an empty call section calls nothing, but should not be there
        (PLAN + section("{"), (0, 0, 0, 0)),  # breaking a call does not make it better
        (PLAN + "<tool_call>" + WORDS, (0, 0, 0, 0)),
        (PLAN + "</tool_call>" + WORDS, (0, 0, 0, 0)),
        (f"<think>{section(HOTEL)}</think>" + WORDS, (1, 1, 1, 1)),  # thinking of a call is not making it
    ],
)
def test_where_no_call_is_expected(answer, reward):
    assert TASK.score(problem(), answer).tolist() == list(reward)


def test_words_instead_of_calls_earn_nothing_and_words_beside_them_do_no_harm():
    assert TASK.score(TWO, PLAN + WORDS).tolist() == [0, 0, 0, 0]
    assert TASK.score(TWO, PLAN + section(HOTEL, TRAIN) + WORDS).tolist() == [1, 1, 1, 1]
    assert TASK.score(TWO, f"<think>{section(HOTEL, TRAIN)}</think>" + WORDS).tolist() == [0, 0, 0, 0]


def test_calls_of_one_tool_are_told_apart_by_their_arguments():
    gold = problem(OSLO, ROME)
    assert score(ROME, OSLO, gold=gold) == [1, 1, 1, 1]
    assert score(ROME, changed(OSLO, code="x"), gold=gold) == [1, 1, 1, 1 / 2]
    assert score(changed(ROME, bank="x"), OSLO, gold=gold) == [1, 1, (2 / 3 + 1) / 2, 1]
    assert score(ROME, ROME, gold=gold) == [1, 1, 1, 1 / 2]


def test_names_come_before_parameters_and_parameters_before_values():
    gold = problem(call("a", x=1), call("b", y=2))
    assert score(call("a", y=2), call("b", x=1), gold=gold) == [1, 1, 0, 0]
    gold = problem(call("a", x=1, y=2), call("a", x=9))
    # Keys pair the first with the first, although crosswise one value more would match.
    assert score(call("a", x=9, y=0), call("a", x=1), gold=gold) == [1, 1, 1, 0]


def test_a_wrong_tool_may_have_the_right_arguments_by_definition():
    assert score(changed(HOTEL, "ping"), gold=problem(HOTEL)) == [1, 0, 1, 1]
    assert score(call("ping"), gold=problem(call("pong"))) == [1, 0, 1, 1]


def test_an_expected_call_without_parameters():
    gold = problem(call("ping"))
    assert score(call("ping"), gold=gold) == [1, 1, 1, 1]
    assert score('{"name": "ping"}', gold=gold) == [1, 1, 1, 1]
    assert score(call("ping", host="x"), gold=gold) == [1, 1, 0, 1]


def random_calls(rng: Random, number: int) -> list[Call]:
    calls = []
    for _ in range(number):
        keys = rng.sample("xyz", rng.randint(0, 3))
        calls.append(Call(rng.choice("aabc"), {key: rng.choice(["p", "q", "p q", 1]) for key in keys}))
    return calls


def totals(gold: list[Call], made: list[Call], pairs: list[tuple[int, int]]) -> tuple[float, float, float]:
    return (
        sum(gold[i].name == made[j].name for i, j in pairs),
        round(sum(key_overlap(gold[i], made[j]) for i, j in pairs), 6),
        round(sum(value_match(gold[i], made[j]) for i, j in pairs), 6),
    )


def test_the_pairs_are_the_best_of_all_pairings():
    rng = Random(0)
    gained = 0
    for _ in range(300):
        gold, made = random_calls(rng, rng.randint(1, 4)), random_calls(rng, rng.randint(1, 4))
        pairs = align(gold, made)
        assert len(pairs) == min(len(gold), len(made))
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
        shorter, longer = sorted((len(gold), len(made)))
        ways = [list(enumerate(p)) for p in permutations(range(longer), shorter)]
        if len(gold) > len(made):
            ways = [[(i, j) for j, i in way] for way in ways]
        best = max(totals(gold, made, way) for way in ways)
        assert totals(gold, made, pairs) == pytest.approx(best, abs=1e-3)
        gained += totals(gold, made, ways[0]) < best
    assert gained > 100  # pairing them in order would not do


def test_shuffled_calls_score_the_same():
    rng = Random(1)
    for _ in range(200):
        gold, made = random_calls(rng, rng.randint(1, 5)), random_calls(rng, rng.randint(1, 5))
        as_problem = problem(*(call(c.name, **c.parameters) for c in gold))
        parts = [call(c.name, **c.parameters) for c in made]
        reward = TASK.score(as_problem, PLAN + section(*parts))
        rng.shuffle(parts)
        assert TASK.score(as_problem, PLAN + section(*parts)) == pytest.approx(reward, abs=1e-3)


def test_a_batch_scores_like_its_members():
    answers = [PLAN + section(HOTEL, TRAIN), section(HOTEL), "nothing"]
    problems = [TWO, problem(HOTEL), problem()]
    rewards = TASK.score_batch(problems, answers)
    assert rewards.dtype == np.float32
    assert np.array_equal(rewards, [TASK.score(p, a) for p, a in zip(problems, answers, strict=True)])
    assert rewards.tolist() == [[1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]]
    assert TASK.score_batch([], []).shape == (0, 4)
    with pytest.raises(ValueError, match="zip"):
        TASK.score_batch(problems, answers[:2])


def test_reference_weights_are_equal():
    assert TASK.reference_weights.tolist() == [0.25] * 4
    assert [o.name for o in TASK.objectives] == ["format", "tool_name", "arg_key", "arg_value"]
