"""Answers of a solver who knows the facts but reads the clues carelessly."""

from __future__ import annotations

from random import Random

from vpo_envs.eureqa.atlas import Atlas
from vpo_envs.eureqa.chain import NAMES, Chain

CARE = 0.8  # probability that a layer is solved with care
STUBBORN = 1 / 3  # share of solvers who go on from an error; the others find the right way again


def careless_names(chain: Chain, rng: Random, facts: Atlas) -> str:
    """All five names in the order in which they are found, entity_E first, some of them near misses.

    A near miss has the right relation to what was found before but does not fit the clue (another neighbour of the same
    country), or, where the relation alone is enough, has it to a neighbour (the capital next door). For chains over
    other facts than `facts` it is another name of the chain.
    """
    stubborn = rng.random() < STUBBORN
    found = [chain.entities[5]]
    for i in reversed(range(5)):
        name = chain.entities[i]
        lost = stubborn and found[-1] != chain.entities[i + 1]
        if lost or rng.random() > CARE:
            misses = _near_misses(chain, found[-1], name, facts)
            name = rng.choice([n for n in misses if n not in found] or [name])
        found.append(name)
    return " ".join(f"<{tag}>{name}</{tag}>" for tag, name in zip(reversed(NAMES), found[1:], strict=True))


def _near_misses(chain: Chain, known: str, answer: str, facts: Atlas) -> list[str]:
    if answer not in facts.kind:
        return [name for name in chain.entities[:5] if name != answer]
    kind = facts.kind[answer]
    near = [name for name in facts.linked(known, kind) if name != answer]
    if not near:
        around = facts.linked(known, "country")
        near = [name for place in around for name in facts.linked(place, kind) if name not in (answer, known)]
    return near
