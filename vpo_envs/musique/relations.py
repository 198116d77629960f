"""Relations between invented entities: how documents state them, how questions ask for them, and reading them back.

In every template `{a}` and `{b}` are what is looked up and `{o}` is what is found. Slots stand apart from each other
and from punctuation, so that a name is the same words everywhere and a text can be read back word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from vpo_envs.musique.names import NAME_WORDS, Kind


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with at most one object for its subjects."""

    label: str
    subjects: tuple[Kind, ...]
    object: Kind
    noun: str
    """The object as a noun phrase, to be part of a longer question."""
    question: str
    statements: tuple[str, str]


RELATIONS = (
    Relation(
        *("birthplace", ("person",), "place", "the birthplace of {a}", "Where was {a} born?"),
        ("{a} has {o} as a birthplace.", "{o} is where {a} was born."),
    ),
    Relation(
        *("teacher", ("person",), "person", "the teacher of {a}", "With whom did {a} study?"),
        ("{a} had {o} as a teacher.", "{o} taught {a} for years."),
    ),
    Relation(
        *("patron", ("person",), "person", "the patron of {a}", "By whom was {a} paid?"),
        ("{a} had {o} as a patron.", "{o} paid {a} for years."),
    ),
    Relation(
        *("favourite", ("person",), "work", "the favourite work of {a}", "Which work did {a} love most?"),
        ("{a} had {o} as a favourite.", "{o} is what {a} loved most."),
    ),
    Relation(
        *("author", ("work",), "person", "the author of {a}", "By whom was {a} written?"),
        ("{a} has {o} as its author.", "{o} wrote {a} in one winter."),
    ),
    Relation(
        *("setting", ("work",), "place", "the setting of {a}", "Where does {a} take place?"),
        ("{a} has {o} as its setting.", "{o} is where {a} takes place."),
    ),
    Relation(
        *("model", ("work",), "work", "the model of {a}", "Which work does {a} imitate throughout?"),
        ("{a} has {o} as its model.", "{o} is what {a} imitates throughout."),
    ),
    Relation(
        *("dedicatee", ("work",), "person", "the dedicatee of {a}", "To whom is {a} dedicated?"),
        ("{a} has {o} as its dedicatee.", "{o} is the one to whom {a} is dedicated."),
    ),
    Relation(
        *("founder", ("place",), "person", "the founder of {a}", "By whom was {a} founded?"),
        ("{a} has {o} as its founder.", "{o} founded {a} in a dry year."),
    ),
    Relation(
        *("mayor", ("place",), "person", "the first mayor of {a}", "Who was elected when {a} chose its first mayor?"),
        ("{a} had {o} as its mayor.", "{o} won when {a} chose its first mayor."),
    ),
    Relation(
        *("anthem", ("place",), "work", "the anthem of {a}", "Which work does {a} have as its anthem?"),
        ("{a} has {o} as its anthem.", "{o} is what {a} sings on feast days."),
    ),
    Relation(
        *("capital", ("place",), "place", "the capital of {a}", "From where is {a} governed?"),
        ("{a} has {o} as its capital.", "{o} is where {a} is governed from."),
    ),
    Relation(
        *("meeting", ("person", "person"), "place", "the place where {a} and {b} met", "Where did {a} and {b} meet?"),
        ("{a} and {b} had {o} as a meeting place.", "{o} is where {a} and {b} met."),
    ),
    Relation(
        *("road", ("place", "place"), "person", "the builder of the road from {a} to {b}"),
        "By whom was the road from {a} to {b} built?",
        ("The road from {a} to {b} has {o} as its builder.", "{o} had the road from {a} to {b} built."),
    ),
    Relation(
        *("gift", ("person", "place"), "work", "the work that {a} took to {b} as a gift"),
        "Which work did {a} take to {b} as a gift?",
        ("{a} took {o} to {b} as a gift.", "{b} got {o} from {a} as a gift."),
    ),
    Relation(
        *("post", ("work", "person"), "person", "the person who sent {a} to {b} by post"),
        "By whom was {a} sent to {b} by post?",
        ("{o} sent {a} to {b} by post.", "{b} got {a} from {o} by post."),
    ),
)
ONE_SUBJECT = tuple(r for r in RELATIONS if len(r.subjects) == 1)


def fill(template: str, subjects: Sequence[str], found: str = "") -> str:
    """The template with its slots filled."""
    return template.format(a=subjects[0], b=subjects[-1], o=found)


class Reading(NamedTuple):
    """What a sentence says. A question says it without an object, ""."""

    relation: Relation
    subjects: tuple[str, ...]
    object: str


def read(sentence: str) -> Reading | None:
    """The fact that a generated sentence states, or the one a generated hop's question asks for; None for other text.

    `#1` to `#4` may stand for names, as they do in question decompositions.
    """
    names: list[str] = []
    words: list[str] = []
    for is_name, group in groupby(sentence.split(), _NAMES.__contains__):
        run = list(group)
        if is_name:
            names.append(" ".join(run))
        words += ["{}"] if is_name else run
    relation, slots = _PATTERNS.get(" ".join(words), (None, ""))
    if relation is None or len(names) != len(slots):  # a sentence may have a pair of braces of its own
        return None
    said = dict(zip(slots, names, strict=True))
    return Reading(relation, tuple(said[slot] for slot in "ab" if slot in said), said.get("o", ""))


def read_all(text: str) -> Iterator[tuple[str, Reading]]:
    """The sentences of a generated paragraph that can be read, and what they say."""
    for sentence in map(str.strip, re.findall(r"[^.]+\.", text)):
        if (fact := read(sentence)) is not None:
            yield sentence, fact


_NAMES = NAME_WORDS | {"#1", "#2", "#3", "#4"}
_PATTERNS: dict[str, tuple[Relation, str]] = {
    re.sub(r"\{\w\}", "{}", template): (relation, "".join(re.findall(r"\{(\w)\}", template)))
    for relation in RELATIONS
    for template in (relation.question, *relation.statements)
}
"""Template without the names of its slots -> its relation, and the names in order."""
