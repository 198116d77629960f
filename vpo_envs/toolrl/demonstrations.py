"""Answers of an assistant who knows the format and is careless: each of them is likely to get some part wrong."""

from __future__ import annotations

from random import Random
from typing import Any

from vpo_envs.toolrl.answer_text import Call
from vpo_envs.toolrl.catalogue import KEY_DETAIL
from vpo_envs.toolrl.generator import gold_text
from vpo_envs.toolrl.problems import ToolProblem, ToolSpec


def careless_answer(problem: ToolProblem, rng: Random) -> str:
    """A well-formed answer with one slip in five of ten cases, two in two, and none in three.

    A slip forgets the thought, takes another tool that was listed, loses, adds or misnames a parameter, takes the value
    of another detail or a neighbouring value, or forgets one of several calls. So each component of the reward is lost
    in some answers and kept in most, and answers to one problem differ in what they lose.
    """
    calls = list(problem.gold)
    thinks = True
    for _ in range(rng.choices((0, 1, 2), (3, 5, 2))[0]):
        slip = rng.choice(("thought", "tool", "key", "key", "value", "value"))
        if slip == "thought":
            thinks = False
        elif not calls:
            if problem.tools:
                calls = [_invented_call(rng.choice(problem.tools), rng)]
        elif len(calls) > 1 and rng.random() < 1 / 5:
            calls.pop(rng.randrange(len(calls)))
        else:
            i = rng.randrange(len(calls))
            if slip == "tool":
                calls[i] = Call(_other_tool(problem, calls[i].name, rng), calls[i].parameters)
            else:
                change = _slip_of_key if slip == "key" else _slip_of_value
                calls[i] = change(problem, calls[i], rng)
    text = gold_text(calls)
    return text if thinks else text.partition("</think>\n")[2]


def _invented_call(tool: ToolSpec, rng: Random) -> Call:
    return Call(tool.name, {key: rng.choice(KEY_DETAIL[key].values)[1] for key in tool.required})


def _other_tool(problem: ToolProblem, name: str, rng: Random) -> str:
    others = [tool.name for tool in problem.tools if tool.name != name]
    return rng.choice(others) if others else name


def _slip_of_key(problem: ToolProblem, call: Call, rng: Random) -> Call:
    """A parameter dropped, called by its other name, or an optional one added that was not asked for."""
    parameters = dict(call.parameters)
    tools = [tool for tool in problem.tools if tool.name == call.name]
    unasked = [key for tool in tools for key in tool.optional if key not in parameters]
    if unasked and rng.random() < 1 / 2:
        key = rng.choice(unasked)
        return Call(call.name, {**parameters, key: rng.choice(KEY_DETAIL[key].values)[1]})
    if not parameters:
        return call
    lost = rng.choice(list(parameters))
    renamed = [key for key in KEY_DETAIL[lost].keys if key != lost] if lost in KEY_DETAIL else []
    if renamed and (len(parameters) == 1 or rng.random() < 1 / 2):
        return Call(call.name, {renamed[0] if key == lost else key: value for key, value in parameters.items()})
    del parameters[lost]
    return Call(call.name, parameters)


def _slip_of_value(problem: ToolProblem, call: Call, rng: Random) -> Call:
    """The value of another detail of the same type, a neighbouring value, or the opposite."""
    if not call.parameters:
        return call
    key = rng.choice(list(call.parameters))
    value = call.parameters[key]
    values = [v for other in problem.gold for v in other.parameters.values()]
    mentioned = [v for v in values if type(v) is type(value) and v != value]
    wrong = rng.choice(mentioned) if mentioned and rng.random() < 1 / 2 else _neighbour(key, value, rng)
    return Call(call.name, {**call.parameters, key: wrong})


def _neighbour(key: str, value: Any, rng: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, int | float):
        return value + rng.choice((-1, 1))
    if key in KEY_DETAIL:
        return rng.choice([v for _, v in KEY_DETAIL[key].values if v != value])
    return " ".join(str(value).split()[:-1])
