"""Random tool sets, requests in words, and the calls that answer them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from vpo_envs.problem_lists import split_of
from vpo_envs.task import Split
from vpo_envs.toolrl.answer_text import Call
from vpo_envs.toolrl.catalogue import DETAILS, KEY_DETAIL, THINGS, Action, Thing
from vpo_envs.toolrl.problems import ToolProblem, ToolSpec

Skill = tuple[Action, Thing]
SKILLS: tuple[Skill, ...] = tuple((action, thing) for thing in THINGS for action in thing.actions)

RULES = (
    "Call a tool once for each thing that the user asks for, and no other tool. Give every required parameter, and an "
    "optional one only if the user mentions it.",
    "Numbers are written in digits, yes-or-no details as true or false, and all other values in the user's words.",
    'First write <think> your plan </think>. Then write <tool_call>, for each call one line {"name": ..., '
    '"parameters": {...}}, and </tool_call>.',
    "If no tool can do what the user asks for, write <response> your words to the user </response> instead.",
)


def generated_problem(
    split: Split, index: int, tools: int, calls: tuple[int, ...], parameters: int, things: int
) -> ToolProblem:
    """Problem `index` of a split: a pure function of its arguments."""
    # Seeding `Random` with a string hashes it with SHA-512, so it does not depend on PYTHONHASHSEED.
    rng = Random(f"vpo/ToolRL-v0 {split} {index} {tools} {calls} {parameters}")
    while True:
        problem = generate_problem(rng, tools, rng.choice(calls), parameters, things)
        if split_of(problem.ground_truth + problem.prompt[-1][1]) == split:
            return problem


def generate_problem(rng: Random, tools: int, calls: int, parameters: int, things: int = len(THINGS)) -> ToolProblem:
    """A problem that shows `tools` tools, needs `calls` calls, and whose tools take at most so many `parameters`.

    The tools deal with the first so many `things` of the catalogue. In one of four problems with several calls one tool
    is called more than once. With no call the request is for something that no tool of the list does.
    """
    skills = [skill for skill in SKILLS if skill[1] in THINGS[:things]]
    distinct = min(calls, tools)
    if calls > 1 and rng.random() < 1 / 4:
        distinct = min(distinct, calls - 1)
    asked = rng.sample(skills, max(1, distinct))
    shown = list(asked) if calls else []
    while len(shown) < tools:
        skill: Skill = rng.choice(skills)
        if rng.random() < 1 / 2:  # something else that can be done with what is asked for
            thing = rng.choice(asked)[1]
            skill = (rng.choice(thing.actions), thing)
        if skill not in shown and skill not in asked:
            shown.append(skill)
    rng.shuffle(shown)
    specs = {skill: _spec(rng, skill, parameters) for skill in dict.fromkeys((*shown, *asked))}
    wanted = asked + [rng.choice(asked) for _ in range(max(1, calls) - len(asked))]
    gold: list[Call] = []
    for skill in wanted:
        call = _call(rng, specs[skill])
        while call in gold:  # the same tool is asked for different things
            call = _call(rng, specs[skill])
        gold.append(call)
    request = " ".join(_request(rng, skill, call) for skill, call in zip(wanted, gold, strict=True))
    listed = tuple(specs[skill] for skill in shown)
    return ToolProblem((("system", _system(listed)), ("user", request)), gold_text(gold if calls else []), listed)


def _spec(rng: Random, skill: Skill, parameters: int) -> ToolSpec:
    """A tool for a skill. Its first parameter is required and no boolean, so that no two calls need be alike."""
    action, thing = skill
    details = rng.sample(thing.details, rng.randint(min(2, parameters), min(parameters, len(thing.details))))
    details.sort(key=lambda detail: DETAILS[detail].kind == "boolean")
    if DETAILS[details[0]].kind == "boolean":
        details[0] = next(detail for detail in thing.details if DETAILS[detail].kind != "boolean")
    keys = [rng.choice(DETAILS[detail].keys) for detail in details]
    required = [key for i, key in enumerate(keys) if i == 0 or rng.random() < 1 / 2]
    optional = [key for key in keys if key not in required]
    return ToolSpec(f"{rng.choice(action.verbs)}_{rng.choice(thing.nouns)}", tuple(required), tuple(optional))


def _call(rng: Random, tool: ToolSpec) -> Call:
    keys = [*tool.required, *(key for key in tool.optional if rng.random() < 1 / 2)]
    parameters: dict[str, Any] = {}
    for key in keys:
        values = KEY_DETAIL[key].values
        value = rng.choice(values)[1]
        while isinstance(value, str) and value in parameters.values():  # no way from a city to the same city
            value = rng.choice(values)[1]
        parameters[key] = value
    return Call(tool.name, parameters)


def _request(rng: Random, skill: Skill, call: Call) -> str:
    action, thing = skill
    details = [_words(key, value) for key, value in call.parameters.items()]
    rng.shuffle(details)
    text = " ".join([rng.choice(action.openings), thing.words, *details])
    return f"{text[0].upper()}{text[1:]}."


def _words(key: str, value: Any) -> str:
    detail = KEY_DETAIL[key]
    return detail.phrase.format(next(words for words, v in detail.values if v == value))


def _system(tools: Sequence[ToolSpec]) -> str:
    return "\n".join(["You help a user by calling tools. These are the tools:", *map(_specification, tools), *RULES])


def _specification(tool: ToolSpec) -> str:
    kinds = {key: KEY_DETAIL[key].kind for key in tool.required}
    kinds |= {key: f"{KEY_DETAIL[key].kind}, optional" for key in tool.optional}
    return json.dumps({"name": tool.name, "parameters": kinds})


def gold_text(calls: Sequence[Call]) -> str:
    """The answer with these calls, or the one that says that there is no tool."""
    if not calls:
        return "<think> No tool fits. </think>\n<response> Sorry, I have no tool for that. </response>"
    names = " and ".join(dict.fromkeys(call.name for call in calls))
    return f"<think> Use {names} </think>\n{calls_text(calls)}"


def calls_text(calls: Sequence[Call]) -> str:
    """A call section."""
    lines = [json.dumps({"name": call.name, "parameters": call.parameters}, ensure_ascii=False) for call in calls]
    return "\n".join(["<tool_call>", *lines, "</tool_call>"])
