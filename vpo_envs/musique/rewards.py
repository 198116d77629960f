"""What an answer cites and says, and what that earns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from vpo_envs.answers import last_element, without_reasoning
from vpo_envs.musique.problems import MAX_HOPS, Problem
from vpo_envs.text_match import tokens

MAX_CITATIONS = 4
COMPARED = 2_000
"""Characters of an answer that are compared, so that none takes long: some characters unfold into 18 letters."""
NOTHING = (0.0,) * (MAX_HOPS + 1)


class Answer(NamedTuple):
    """The parts of an answer that count."""

    cited: tuple[str, ...]
    """Paragraph numbers as digits without leading zeros: no number is too large for a text."""
    text: str


def read_answer(text: str) -> Answer | None:
    """The last complete `<answer>` outside the reasoning, with what the last complete `<support>` there cites.

    None if there is no such `<answer>`, or the last one is blank.
    """
    text = without_reasoning(text)
    said = last_element(text, "answer")
    if said is None or not said.strip():
        return None
    return Answer(citations(last_element(text, "support") or ""), said)


def citations(text: str) -> tuple[str, ...]:
    """The first four distinct numbers in a text; each run of the digits 0 to 9 is one, whatever stands between."""
    cited: dict[str, None] = {}
    for match in _NUMBER.finditer(text):
        cited[match.group().lstrip("0") or "0"] = None
        if len(cited) == MAX_CITATIONS:
            break
    return tuple(cited)


def words(text: str) -> list[str]:
    """The words that are compared. A text of which SQuAD's rules leave nothing ("A", "!") keeps all of its words."""
    text = " ".join(text.split())[:COMPARED]
    return tokens(text) or text.casefold().split()


def reward_of(problem: Problem, answer: Answer | None) -> tuple[float, ...]:
    """hop_1 to hop_4, answer_f1."""
    if answer is None:
        return NOTHING
    hops = [1.0 if str(hop.paragraph) in answer.cited else 0.0 for hop in problem.hops]
    return (*hops, *[1.0] * (MAX_HOPS - len(hops)), best_f1(answer.text, problem.answers))


def best_f1(text: str, answers: tuple[str, ...]) -> float:
    """The best token F1 of a text with one of several answers."""
    said = words(text)
    return max(_f1(said, counts, number) for counts, number in _counted(answers))


def _f1(said: list[str], gold: Mapping[str, int], number: int) -> float:
    """2 |common words| / |all words|, words counted with their repetitions."""
    left = dict(gold)
    common = 0
    for word in said:
        if left.get(word, 0):
            left[word] -= 1
            common += 1
    return 2 * common / (len(said) + number)


@lru_cache(maxsize=8192)
def _counted(answers: tuple[str, ...]) -> list[tuple[Mapping[str, int], int]]:
    """Each answer's words with their counts, and how many there are in all."""
    return [(Counter(found), len(found)) for found in map(words, answers)]


_NUMBER = re.compile("[0-9]+")
