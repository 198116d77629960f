"""Asking for m answers, and splitting a response into them. One mechanism for all tasks.

m = 1 uses the task's own format. m > 1 uses numbered elements, `<TAG_1> ... </TAG_1>` to `<TAG_m>`, with the tag chosen
by the task. An element is an opening tag followed by its own closing tag with no other tag of the same family between
them, so a truncated last answer, an unclosed one, and one that swallows another do not count. Everything outside the
elements is reasoning and is never scored, nor is an element inside `<think>`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from numbers import Integral
from typing import Any, Protocol


@lru_cache(maxsize=64)
def _tag_pattern(tag: str, numbered: bool) -> re.Pattern[str]:
    # White space in a tag is tolerated up to a bound, so that no input makes the search quadratic. ASCII only: without
    # it a long s would match an s, and every digit of Unicode a digit.
    number = r"\s{0,4}_\s{0,4}(\d{1,4})" if numbered else r"()"
    return re.compile(rf"<\s{{0,8}}(/?)\s{{0,8}}{re.escape(tag)}{number}\s{{0,8}}>", re.IGNORECASE | re.ASCII)


def elements(text: str, tag: str, numbered: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (number, content) of every complete `<tag>` or `<tag_number>` element, in order. Linear in `text`."""
    opened: tuple[str, int] | None = None
    for match in _tag_pattern(tag, numbered).finditer(text):
        closing, number = match.group(1), match.group(2).lstrip("0")
        if not closing:
            opened = (number, match.end())
        else:
            if opened is not None and opened[0] == number:
                yield number, text[opened[1] : match.start()]
            opened = None


def last_element(text: str, tag: str) -> str | None:
    """Content of the last complete `<tag>` element, or None."""
    contents = [content for _, content in elements(text, tag)]
    return contents[-1] if contents else None


def has_tag(text: str, tag: str, numbered: bool = False) -> bool:
    """Whether an opening or closing `<tag>` (`<tag_number>`) stands anywhere, complete element or not."""
    return _tag_pattern(tag, numbered).search(text) is not None


def without_reasoning(text: str) -> str:
    """The text without its `<think>` elements. An unclosed one hides all that follows: a cut-off thought is no answer.

    A closing tag without an opening one ends a thought that began in the prompt, so what stands before it goes too.
    """
    kept: list[str] = []
    start, thinking = 0, False
    for match in _tag_pattern("think", False).finditer(text):
        if match.group(1):
            if not thinking:
                kept.clear()
            start, thinking = match.end(), False
        elif not thinking:
            kept.append(text[start : match.start()])
            thinking = True
    if not thinking:
        kept.append(text[start:])
    return "".join(kept)


@dataclass(frozen=True)
class NumberedElement:
    """A complete `<tag_number>` element: its number without leading zeros, its content, and where it stands."""

    number: str
    content: str
    span: tuple[int, int]
    """Of the whole element in the text, tags included: first character, and the one after the last."""


def elements_outside_reasoning(text: str, tag: str) -> list[NumberedElement]:
    """The complete `<tag_number>` elements that stand in no `<think>` element, in order. Linear in `text`.

    As in `without_reasoning`, an unclosed thought hides what follows, and a closing tag alone what stands before it. A
    thought inside an element belongs to that answer and is left to the task.
    """
    think = _tag_pattern("think", False)
    found: list[NumberedElement] = []
    opened: re.Match[str] | None = None
    thinking = False
    tags = merge(_tag_pattern(tag, True).finditer(text), think.finditer(text), key=re.Match.start)
    for match in tags:
        closing = bool(match.group(1))
        if match.re is think:
            if opened is None:
                if closing and not thinking:
                    found.clear()
                thinking = not closing
        elif not thinking:
            number = match.group(2).lstrip("0")
            if closing and opened is not None and opened.group(2).lstrip("0") == number:
                content = text[opened.end() : match.start()]
                found.append(NumberedElement(number, content, (opened.start(), match.end())))
            opened = None if closing else match
    return found


class Answerable(Protocol):
    """The part of a task that splitting needs."""

    @property
    def answer_tag(self) -> str: ...
    def extract(self, response: str) -> str | None: ...
    def wrap(self, answer: str) -> str: ...
    def is_answer(self, answer: str) -> bool: ...
    def normalise(self, answer: str) -> Hashable: ...


def split_response(task: Answerable, response: str, num_answers: int) -> list[str | None]:
    """The `num_answers` answers in a response, None where one is absent.

    m = 1: what `task.extract` finds. m > 1: the first complete element of each number from 1 to m that stands in no
    reasoning and holds an answer (`task.is_answer`). An answer whose normal form equals an earlier one's is absent: the
    same answer counts once.
    """
    if num_answers == 1:
        return [task.extract(response)]
    written = _numbered(task, response, num_answers)
    found = [element.content if element is not None and holds else None for element, holds in written]
    seen: set[Hashable] = set()
    for index, answer in enumerate(found):
        if answer is not None:
            key = task.normalise(answer)
            if key in seen:
                found[index] = None
            seen.add(key)
    return found


def answer_spans(task: Answerable, response: str, num_answers: int) -> list[tuple[int, int] | None]:
    """Where each of the `num_answers` answers stands in a response, tags included: (first character, end), or None.

    m > 1: the spans do not overlap. An absent answer that was written has a span as well, that of its first complete
    element: it repeats another answer, or holds none. m = 1: the whole response, if it holds an answer.
    """
    if num_answers == 1:
        return [None if task.extract(response) is None else (0, len(response))]
    return [None if element is None else element.span for element, _ in _numbered(task, response, num_answers)]


def _numbered(task: Answerable, response: str, num_answers: int) -> list[tuple[NumberedElement | None, bool]]:
    """For each number the first element outside of reasoning that holds an answer, True; else the first one, False."""
    found: list[NumberedElement | None] = [None] * num_answers
    holds = [False] * num_answers
    for element in elements_outside_reasoning(response, task.answer_tag):
        index = int(element.number or 0) - 1
        if 0 <= index < num_answers and not holds[index]:
            holds[index] = task.is_answer(element.content)
            if holds[index] or found[index] is None:
                found[index] = element
    return list(zip(found, holds, strict=True))


def join_answers(task: Answerable, answers: Sequence[str]) -> str:
    """A response that holds these answers: the inverse of `split_response` for distinct answers."""
    if len(answers) == 1:
        return task.wrap(answers[0])
    tag = task.answer_tag
    return "\n".join(f"<{tag}_{i}>{a}</{tag}_{i}>" for i, a in enumerate(answers, start=1))


def ask_for_answers(tag: str, num_answers: int, noun: str = "answers") -> str:
    """The sentence that asks for m > 1 answers in numbered tags."""
    return (
        f"Give {num_answers} {noun} that differ in what they trade off. "
        f"Put each inside its own numbered tags, from <{tag}_1> ... </{tag}_1> to <{tag}_{num_answers}> ... "
        f"</{tag}_{num_answers}>."
    )


def describe_weights(names: Sequence[str], weights: Sequence[float]) -> str:
    """One line that tells the model which objectives matter and how much (weights as whole percents)."""
    parts = ", ".join(f"{name} {round(100 * float(w))}%" for name, w in zip(names, weights, strict=True))
    return f"What counts: {parts}."


def prompt_text(messages: Sequence[dict[str, Any]]) -> str:
    """Chat messages as one plain text: their contents, separated by blank lines."""
    return "\n\n".join(str(message["content"]) for message in messages)


def check_num_answers(num_answers: Any, env_id: str) -> int:
    """The number of answers as an int. Raises ValueError unless it is a whole number from 1 to 1000."""
    whole = isinstance(num_answers, Integral) and not isinstance(num_answers, bool)  # NumPy's integers count
    if not whole or not 1 <= num_answers <= 1000:
        raise ValueError(f"{env_id}: num_answers must be a whole number from 1 to 1000, not {num_answers!r}")
    return int(num_answers)


def check_seed(seed: Any, env_id: str) -> int:
    """The seed as an int. Raises ValueError for anything but a whole number >= 0: a truncated seed is another one."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"{env_id}: a seed is a whole number of at least 0, not {seed!r}")
    return int(seed)
