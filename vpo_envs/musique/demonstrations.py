"""Answers of a reader who looks up one step after another but does not always look closely."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import NamedTuple

from vpo_envs.musique.problems import Hop, Problem
from vpo_envs.musique.relations import Reading, read, read_all

CARE = 0.7  # how often a step is taken from the paragraph that states it
STOPS_SHORT = 0.1  # how often the last step is forgotten


class _Found(NamedTuple):
    """A step as it is written down: what was looked up, in which paragraph, and what it says."""

    sought: str
    paragraph: int
    object: str


def careless_answer(problem: Problem, rng: Random) -> str:
    """The steps, one a line, then the paragraphs used and what the last one says.

    A careless step takes a paragraph that states the same about somebody else, or something else about the same
    entity; the steps after it go on from what was found there. So demonstrations of one problem differ in the steps
    that they get right, and a policy that imitates them can look things up; to look closely is left to learn.
    """
    facts = _facts(problem.texts)
    found: list[_Found] = []
    for hop in problem.hops[: len(problem.hops) - (rng.random() < STOPS_SHORT)]:
        asked = read(hop.question)
        step = _look_up(asked, facts, found, rng) if asked and facts else _leaf_through(problem, hop, found, rng)
        if step is None:
            break
        found.append(step)
    if not found:
        return "<support></support><answer>unknown</answer>"
    steps = "\n".join(" ".join(map(str, step)) for step in found)
    # With a space before it, a name or number is the same token as in the steps.
    cited = " ".join(dict.fromkeys(str(step.paragraph) for step in found))
    return f"{steps}\n<support> {cited}</support><answer> {found[-1].object}</answer>"


@lru_cache(maxsize=64)  # a problem is demonstrated several times in a row
def _facts(texts: tuple[str, ...]) -> list[tuple[int, Reading]]:
    """What the paragraphs state, as far as it can be read, and where."""
    return [(i, fact) for i, text in enumerate(texts) for fact in read_all(text)]


def _look_up(asked: Reading, facts: list[tuple[int, Reading]], found: list[_Found], rng: Random) -> _Found | None:
    """A step through generated documents, all of whose sentences can be read."""
    subjects = tuple(_earlier(name, found) for name in asked.subjects)
    right, near = [], []
    for i, fact in facts:
        same_relation = fact.relation is asked.relation
        if same_relation and fact.subjects == subjects:
            right.append((i, fact))
        elif fact.object not in subjects and (same_relation or not set(fact.subjects).isdisjoint(subjects)):
            near.append((i, fact))
    if not right and not near:
        return None
    paragraph, fact = rng.choice(right if right and (not near or rng.random() < CARE) else near)
    return _Found(f"{asked.relation.label} {' '.join(subjects)}", paragraph, fact.object)


def _leaf_through(problem: Problem, hop: Hop, found: list[_Found], rng: Random) -> _Found:
    """A step through documents in free text: the answer that the data give, or the title of any other paragraph."""
    sought = " ".join(_earlier(word, found) for word in hop.question.split())
    if rng.random() < CARE or len(problem.texts) == 1:
        return _Found(sought, hop.paragraph, hop.answer)
    other = rng.choice([i for i in range(len(problem.texts)) if i != hop.paragraph])
    return _Found(sought, other, problem.titles[other])


def _earlier(name: str, found: list[_Found]) -> str:
    """What an earlier step found, for "#1"; any other name as it is."""
    reference = name[1:]
    if name.startswith("#") and reference.isdecimal() and 0 < int(reference) <= len(found):
        return found[int(reference) - 1].object
    return name
