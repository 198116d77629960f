"""Chains over the table of facts, each layer with exactly one answer in the whole table."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from vpo_envs.eureqa.atlas import KINDS, PREDICATES, Atlas, Kind, atlas, clues_about, read_facts
from vpo_envs.eureqa.chain import LETTERS, SIZE, Chain, normal_form
from vpo_envs.problem_lists import split_of
from vpo_envs.task import Split

MIN_COUNTRIES = 10
ATTEMPTS = (
    10_000  # chains that are drawn for one problem; about one in ten is usable, one in eight of those for testing
)
MASKS = tuple(f"[entity_{letter}]" for letter in LETTERS + "F")

# How often each kind of entity is the next step of the walk. A capital leads nowhere but back, so it ends the walk.
LEAF: dict[Kind, int] = {"country": 4, "capital": 4, "currency": 1, "language": 2}
MIDDLE: dict[Kind, int] = {"country": 4, "capital": 0, "currency": 2, "language": 2}
LAST: dict[Kind, int] = {"country": 2, "capital": 4, "currency": 2, "language": 2}


def generated_chain(split: Split, index: int, countries: int) -> Chain:
    """Chain `index` of a split over the first so many countries: a pure function of its arguments.

    Raises:
        RuntimeError: none was found (never seen).
    """
    # Seeding `Random` with a string hashes it with SHA-512, so it does not depend on PYTHONHASHSEED.
    rng = Random(f"vpo/EUREQA-v0 {split} {countries} {index}")
    for _ in range(ATTEMPTS):
        entities = _walk(rng, atlas(countries))
        # The split is that of the entities: the same chain in other words is never in both.
        if entities is not None and split_of("\n".join(entities)) == split:
            sentences = describe(rng, entities)
            if sentences is not None:
                return Chain(sentences, MASKS, entities)
    raise RuntimeError(f"EUREQA: no chain for problem {index} of {split} with {countries} countries")


def _walk(rng: Random, facts: Atlas) -> tuple[str, ...] | None:
    """Six different entities, entity_A first, each related to the next one; None where the walk got stuck."""
    chain = [rng.choice(facts.of_kind(_draw(rng, LEAF)))]
    while len(chain) < SIZE:
        known = chain[-1]
        weights = LAST if len(chain) == SIZE - 1 else MIDDLE
        ways = {kind: names for kind in KINDS if (names := [n for n in facts.linked(known, kind) if n not in chain])}
        weights = {kind: weights[kind] for kind in ways}
        if not any(weights.values()):
            return None
        chain.append(rng.choice(ways[_draw(rng, weights)]))
    # A language and a currency may have one name.
    return tuple(reversed(chain)) if len(set(map(normal_form, chain))) == SIZE else None


def _draw(rng: Random, weights: dict[Kind, int]) -> Kind:
    return rng.choices(list(weights), list(weights.values()))[0]


def describe(rng: Random, entities: tuple[str, ...]) -> tuple[str, ...] | None:
    """A sentence for each of the five masked entities; None where one of them cannot be told from others.

    The relation to the next entity is enough where only one entity of the whole table has it. Otherwise a clue is added
    that leaves exactly one, names nothing of the chain, and is not enough without the relation.
    """
    facts = atlas(len(read_facts()))
    sentences = []
    for i, (answer, known) in enumerate(pairwise(entities)):
        kind = facts.kind[answer]
        sentence = f"{MASKS[i]} {PREDICATES[kind, facts.kind[known]].format(MASKS[i + 1] if i < 4 else known)}"
        rivals = [name for name in facts.linked(known, kind) if name != answer]
        if rivals:
            clues = [
                clue
                for clue in clues_about(answer)
                if not any(rival in facts.fitting[clue] for rival in rivals)
                and not any(clue.endswith(f" {name}") for name in entities)
            ]
            if not clues:
                return None
            sentence += f" and {rng.choice(clues)}"
        sentences.append(f"{sentence}.")
    return tuple(sentences)
