"""Generated problems: correct, varied, the same everywhere, and of the data set's own shape."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from random import Random

import numpy as np
import pytest
from helpers import outputs_under_hash_seeds

from vpo_envs.answers import prompt_text
from vpo_envs.toolrl import ToolProblem, ToolRLTask
from vpo_envs.toolrl.catalogue import DETAILS, KEY_DETAIL, THINGS
from vpo_envs.toolrl.generator import SKILLS, generate_problem
from vpo_envs.toolrl.problems import official_row, parse_row

LEVELS = (
    {},
    {"tools": 3, "calls": (1, 2), "parameters": 2},
    {"tools": 1, "calls": (0, 1, 5), "parameters": 1},
    {"tools": 16, "calls": (3, 4, 5), "parameters": 6},
)
every_level = pytest.mark.parametrize("level", LEVELS, ids=str)
KINDS = {"string": str, "integer": int, "number": int | float, "boolean": bool, "array of strings": list}


def problems(number: int = 100, **level: object) -> list[ToolProblem]:
    task = ToolRLTask(num_problems=number, **level)
    return [task[i] for i in range(number)]


def specifications(problem: ToolProblem) -> dict[str, dict[str, str]]:
    """Tool -> parameter -> type, read from the prompt."""
    lines = [json.loads(line) for line in problem.prompt[0][1].splitlines() if line.startswith("{")]
    return {line["name"]: line["parameters"] for line in lines}


@every_level
def test_every_gold_answer_scores_all_ones(level):
    task = ToolRLTask(num_problems=150, **level)
    found = [task[i] for i in range(150)]
    assert task.score_batch(found, [task.gold(p) for p in found]).min() == 1


@every_level
def test_gold_calls_follow_the_specifications_in_the_prompt(level):
    for problem in problems(**level):
        tools = specifications(problem)
        assert len(tools) == len(problem.tools) == level.get("tools", 4)
        for call in problem.gold:
            kinds = tools[call.name]
            assert call.parameters.keys() <= kinds.keys()
            assert {key for key, kind in kinds.items() if not kind.endswith(", optional")} <= call.parameters.keys()
            for key, value in call.parameters.items():
                kind = kinds[key].removesuffix(", optional")
                assert isinstance(value, KINDS[kind])
                assert isinstance(value, bool) == (kind == "boolean")


@every_level
def test_numbers_of_calls_and_parameters_are_those_asked_for(level):
    found = problems(**level)
    assert {len(p.gold) for p in found} == set(level.get("calls", (0, 1, 2)))
    sizes = {len(kinds) for p in found for kinds in specifications(p).values()}
    assert max(sizes) == level.get("parameters", 3)
    for p in found:
        assert len({json.dumps([c.name, c.parameters]) for c in p.gold}) == len(p.gold)  # no call twice
        names = [c.name for c in p.gold]
        assert len(set(names)) == len(names) or level.get("tools") == 1 or len(names) > 1


def test_a_request_gives_every_value_in_words_and_nothing_else():
    """Every detail that a request words is a parameter of the gold calls, and the other way round."""
    for problem in problems(200, calls=(1, 2)):
        request = f" {problem.prompt[1][1].lower().replace('.', ' ')} "
        given = Counter()
        for call in problem.gold:
            for key, value in call.parameters.items():
                words = [w for w, v in KEY_DETAIL[key].values if v == value and type(v) is type(value)]
                phrase = KEY_DETAIL[key].phrase.format(words[0]).lower()
                assert f" {phrase} " in request
                given[phrase] += 1
        for phrase in given:
            request = request.replace(f" {phrase} ", "  ")
        phrases = {d.phrase.format(w).lower() for d in DETAILS.values() for w, _ in d.values}
        assert not [p for p in phrases if f" {p} " in request]


def test_where_no_call_is_expected_no_tool_does_what_is_asked():
    things = {thing.words: thing for thing in THINGS}
    seen = set()
    for problem in problems(200, calls=(0,)):
        request = problem.prompt[1][1]
        [thing] = [t for words, t in things.items() if f" {words}" in request]
        actions = [a for a in thing.actions if any(request.lower().startswith(f"{o} ") for o in a.openings)]
        [action] = actions
        able = {f"{verb}_{noun}" for verb in action.verbs for noun in thing.nouns}
        assert able.isdisjoint(specifications(problem))
        seen |= able
        assert "<response>" in problem.ground_truth
    assert len(seen) > 100


def test_details_and_tools_cannot_be_mistaken_for_each_other():
    keys = [key for detail in DETAILS.values() for key in detail.keys]
    assert len(set(keys)) == len(keys)
    tools = [f"{verb}_{noun}" for action, thing in SKILLS for verb in action.verbs for noun in thing.nouns]
    assert len(set(tools)) == len(tools) > 200
    for detail in DETAILS.values():
        assert len({words for words, _ in detail.values}) == len(detail.values)
        assert len({json.dumps(value) for _, value in detail.values}) == len(detail.values)
        assert all(isinstance(value, KINDS[detail.kind]) for _, value in detail.values)
    for thing in THINGS:
        assert len(thing.details) == len(set(thing.details))
        assert any(DETAILS[detail].kind != "boolean" for detail in thing.details)


def test_prompts_are_varied_and_the_splits_have_none_in_common():
    train, test = (
        ToolRLTask(split, num_problems=1500, tools=1, calls=(1,), parameters=1) for split in ("train", "test")
    )
    one, other = ({task[i].prompt for i in range(1500)} for task in (train, test))
    assert one.isdisjoint(other)
    assert len(one) > 1200
    requests = {p.prompt[1][1] for p in problems(1000)}
    assert len(requests) > 990
    tools = {frozenset(specifications(p)) for p in problems(1000)}
    assert len(tools) > 990


def test_a_problem_is_a_row_of_the_data_set():
    for level in LEVELS:
        for problem in problems(30, **level):
            row = json.loads(json.dumps(official_row(problem)))
            assert parse_row(row) == problem
            assert parse_row(row).gold == problem.gold


def test_problems_are_made_when_asked_for_and_follow_from_their_index():
    task = ToolRLTask(num_problems=10**9)
    last = task[10**9 - 1]
    assert len(task) == 10**9
    assert ToolRLTask(num_problems=10**9)[10**9 - 1] == last
    assert task[5] == ToolRLTask()[5]
    copy = pickle.loads(pickle.dumps(task))
    assert copy[5] == task[5]
    assert len(pickle.dumps(task)) < 10_000
    with pytest.raises(IndexError):
        task[10**9]
    with pytest.raises(IndexError):
        ToolRLTask("test")[100]
    assert len(ToolRLTask()) == 1000


IN_ANOTHER_PROCESS = """
import hashlib
from random import Random
from vpo_envs.answers import prompt_text
from vpo_envs.toolrl import ToolRLTask
seen = hashlib.sha256()
for split in ("train", "test"):
    task = ToolRLTask(split)
    for i in range(40):
        answer = task.demonstration(task[i], Random(i))
        reward = task.score(task[i], answer).tolist()
        seen.update(repr((prompt_text(task.messages(task[i], 2)), answer, reward)).encode())
print(seen.hexdigest())
"""


def test_processes_with_different_hash_seeds_agree():
    runs = outputs_under_hash_seeds(IN_ANOTHER_PROCESS)
    assert len(runs[0]) > 60
    assert runs[0] == runs[1]


def test_the_request_does_not_hold_the_gold_answer():
    for problem in problems(100, calls=(1, 2)):
        prompt = prompt_text(problem.messages)
        assert not any(json.dumps(call.parameters) in prompt for call in problem.gold)


@every_level
def test_demonstrations_are_well_formed_competent_and_not_optimal(level):
    task = ToolRLTask(num_problems=300, **level)
    rng = Random(0)
    rewards = np.array([[task.score(task[i], task.demonstration(task[i], rng)) for _ in range(5)] for i in range(300)])
    assert (rewards.mean(axis=(0, 1)) > 0.5).all()
    perfect = (rewards.min(axis=2) == 1).mean(axis=1)
    assert 0.2 < perfect.mean() < 0.5
    # Each component is lost alone by some answer, so that sets differ in what they get right.
    full = rewards.reshape(-1, 4) == 1
    if 0 not in level.get("calls", (0, 1, 2)):
        for lost in (0, 1, 2, 3):
            others = [i for i in range(4) if i not in ((lost, 3) if lost == 2 else (lost,))]
            assert (~full[:, lost] & full[:, others].all(axis=1)).mean() > 0.02


def test_demonstrations_answer_problems_of_the_data_set_too():
    rng = Random(0)
    task = ToolRLTask()
    for problem in problems(200):
        loaded = parse_row(official_row(problem))
        assert loaded.tools == ()
        answer = task.demonstration(loaded, rng)
        assert task.extract(answer) == answer


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ({"tools": 0}, "ToolRL: tools must be a whole number from 1 to 16, not 0"),
        ({"tools": 17}, "ToolRL: tools must"),
        ({"tools": 2.0}, "ToolRL: tools must"),
        ({"tools": True}, "ToolRL: tools must"),
        ({"parameters": 0}, "ToolRL: parameters must be a whole number from 1 to 6, not 0"),
        ({"parameters": 7}, "ToolRL: parameters must"),
        ({"things": 5}, "ToolRL: things must be a whole number from 6 to 18, not 5"),
        ({"calls": ()}, "ToolRL: calls must name at least one number"),
        ({"calls": (1, 6)}, "ToolRL: each of calls must be a whole number from 0 to 5, not 6"),
        ({"calls": -1}, "ToolRL: each of calls must"),
        ({"calls": "12"}, "ToolRL: each of calls must"),
        ({"calls": None}, "ToolRL: each of calls must"),
        ({"num_problems": 0}, "ToolRL: num_problems must be a whole number of at least 1, not 0"),
        ({"split": "dev"}, "split must be 'train' or 'test'"),
    ],
)
def test_bad_arguments_are_named(argument, complaint):
    with pytest.raises(ValueError, match="ToolRL") as error:
        ToolRLTask(**argument)
    assert complaint in str(error.value)


def test_a_single_number_of_calls_will_do():
    assert ToolRLTask(calls=2).calls == ToolRLTask(calls=[2]).calls == (2,)
    assert ToolRLTask(calls=2)[0] == ToolRLTask(calls=(2,))[0]


def test_several_calls_need_not_be_of_several_tools():
    rng = Random(0)
    repeated = 0
    for _ in range(400):
        names = [call.name for call in generate_problem(rng, 4, 2, 3).gold]
        repeated += names[0] == names[1]
    assert 60 < repeated < 140


def test_few_things_are_enough_for_the_most_tools_and_calls():
    task = ToolRLTask(num_problems=40, things=6, tools=16, calls=5, parameters=6)
    nouns = {tool.name.rpartition("_")[2] for i in range(40) for tool in task[i].tools}
    assert nouns == {noun for thing in THINGS[:6] for noun in thing.nouns}
