"""Reading the text of an answer: its thought, its calls, its response to the user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from vpo_envs.answers import elements, has_tag, without_reasoning
from vpo_envs.toolrl.values import Form, parse_number

MAX_CALLS = 100
MAX_DEPTH = 32
"""Calls in one answer, and lists and objects within each other in one call; an answer with more cannot be read."""


@dataclass(frozen=True)
class Call:
    """One tool call."""

    name: str
    parameters: dict[str, Any]

    @cached_property
    def form(self) -> Form:
        """The parameters, prepared for comparisons."""
        return Form(self.parameters)


@dataclass(frozen=True)
class Answer:
    """What stands in an answer."""

    thinks: bool
    """There is a complete `<think>` element with something in it."""
    responds: bool
    """There is a complete `<response>` element with something in it."""
    calls: tuple[Call, ...] | None
    """The calls, in order. None where a `<tool_call>` tag is there and what it means cannot be read."""
    tagged: bool
    """There is a `<tool_call>` tag, whatever stands in it."""

    @property
    def complete(self) -> bool:
        """There is at least one complete element, so that this is an answer at all."""
        return self.thinks or self.responds or (self.tagged and self.calls is not None)


def read_answer(text: str) -> Answer:
    """Read an answer; any text can be read. What stands in `<think>` is never a call."""
    outside = without_reasoning(text)
    tagged = has_tag(outside, "tool_call")
    calls: tuple[Call, ...] | None = ()
    if tagged:
        sections = [section for _, section in elements(outside, "tool_call")]
        try:
            calls = parse_calls(sections) if sections else None
        except ValueError:
            calls = None
    return Answer(_filled(text, "think"), _filled(outside, "response"), calls, tagged)


def _filled(text: str, tag: str) -> bool:
    return any(content.strip() for _, content in elements(text, tag))


def parse_calls(sections: list[str]) -> tuple[Call, ...]:
    """The calls in the given call sections: JSON objects, or arrays of them, with white space between.

    Raises:
        ValueError: anything else stands there, or there are more than `MAX_CALLS`.
    """
    calls: list[Call] = []
    for section in sections:
        for value in _json_values(section):
            for item in value if isinstance(value, list) else [value]:
                if len(calls) == MAX_CALLS:
                    raise ValueError(f"more than {MAX_CALLS} calls")
                calls.append(_call(item))
    return tuple(calls)


def _json_values(text: str) -> Iterator[Any]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            value, at = _DECODER.raw_decode(text, at)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        yield value


def _call(item: Any) -> Call:
    if not isinstance(item, dict):
        raise ValueError("a call must be an object")
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError("a call needs a 'name'")
    if "parameters" in item and "arguments" in item:
        raise ValueError("a call has 'parameters' or 'arguments', not both")
    parameters = item.get("parameters", item.get("arguments", {}))
    if not isinstance(parameters, dict):
        raise ValueError("the parameters of a call must be an object")
    _check_depth(parameters, MAX_DEPTH)
    return Call(name.strip(), parameters)


def _check_depth(value: Any, left: int) -> None:
    if isinstance(value, list | dict):
        if not left:
            raise ValueError(f"more than {MAX_DEPTH} lists and objects within each other")
        for inner in value.values() if isinstance(value, dict) else value:
            _check_depth(inner, left - 1)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return record


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_int=parse_number, parse_float=parse_number
)
