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
    """A step as it is written down: the sentence that is quoted, its paragraph, and what was found in it."""

    quote: str
    paragraph: int
    object: str


def careless_answer(problem: Problem, rng: Random) -> str:
    """A quotation for each step, then the paragraphs used and what the last one says.

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
    # Numbers are written as in the prompt, and names have a space before them: to a small policy they are the same
    # tokens everywhere, and all that it writes is copied from somewhere.
    steps = "\n".join(f"- {problem.titles[step.paragraph]} [{step.paragraph}] - {step.quote}" for step in found)
    cited = " ".join(dict.fromkeys(f"[{step.paragraph}]" for step in found))
    return f"{steps}\n<support> {cited}</support><answer> {found[-1].object}</answer>"


@lru_cache(maxsize=64)  # a problem is demonstrated several times in a row
def _facts(texts: tuple[str, ...]) -> list[tuple[int, str, Reading]]:
    """What the paragraphs state, as far as it can be read: where, in which sentence, and what."""
    return [(i, sentence, fact) for i, text in enumerate(texts) for sentence, fact in read_all(text)]


def _look_up(asked: Reading, facts: list[tuple[int, str, Reading]], found: list[_Found], rng: Random) -> _Found | None:
    """A step through generated documents, all of whose sentences can be read."""
    subjects = tuple(_earlier(name, found) for name in asked.subjects)
    right: list[_Found] = []
    near: list[_Found] = []
    for i, sentence, fact in facts:
        same_relation = fact.relation is asked.relation
        if same_relation and fact.subjects == subjects:
            right.append(_Found(sentence, i, fact.object))
        elif fact.object not in subjects and (same_relation or not set(fact.subjects).isdisjoint(subjects)):
            near.append(_Found(sentence, i, fact.object))
    if not right and not near:
        return None
    return rng.choice(right if right and (not near or rng.random() < CARE) else near)


def _leaf_through(problem: Problem, hop: Hop, found: list[_Found], rng: Random) -> _Found:
    """A step through documents in free text: the answer that the data give, or the title of any other paragraph."""
    sought = " ".join(_earlier(word, found) for word in hop.question.split())
    if rng.random() < CARE or len(problem.texts) == 1:
        return _Found(f"{sought} {hop.answer}", hop.paragraph, hop.answer)
    other = rng.choice([i for i in range(len(problem.texts)) if i != hop.paragraph])
    return _Found(f"{sought} {problem.titles[other]}", other, problem.titles[other])


def _earlier(name: str, found: list[_Found]) -> str:
    """What an earlier step found, for "#1"; any other name as it is."""
    reference = name[1:]
    if name.startswith("#") and reference.isdecimal() and 0 < int(reference) <= len(found):
        return found[int(reference) - 1].object
    return name
