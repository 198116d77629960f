"""The table of facts, and the relations between named entities that follow from it."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

Kind = Literal["country", "capital", "currency", "language"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PREDICATES: dict[tuple[Kind, Kind], str] = {
    ("country", "country"): "borders {}",
    ("country", "capital"): "has the capital {}",
    ("country", "currency"): "pays with the {}",
    ("country", "language"): "has the official language {}",
    ("capital", "country"): "is the capital of {}",
    ("currency", "country"): "is the currency of {}",
    ("language", "country"): "is an official language of {}",
}
"""The seven relations: (kind of the entity that is described, kind of the one that is known) -> predicate."""


@dataclass(frozen=True)
class Country:
    """A row of the table. An empty tuple is a fact that is not stated."""

    name: str
    capital: tuple[str, ...]
    currency: tuple[str, ...]
    language: tuple[str, ...]
    continent: tuple[str, ...]
    neighbours: tuple[str, ...]


@cache
def read_facts() -> tuple[Country, ...]:
    """The whole table, from `facts.csv` beside this file."""
    text = files("vpo_envs.eureqa").joinpath("facts.csv").read_text(encoding="utf-8")
    rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    next(rows)  # the names of the columns
    return tuple(Country(name, *(tuple(v.split(";")) if v else () for v in rest)) for name, *rest in rows)


class Atlas:
    """Who is related to whom among some countries, their capitals, currencies and languages. Not to be changed."""

    def __init__(self, countries: tuple[Country, ...]) -> None:
        self.kind: dict[str, Kind] = {}
        """name -> what it names. No name is of two kinds."""
        links: defaultdict[tuple[Kind, str], list[str]] = defaultdict(list)
        inside = {country.name for country in countries}
        for country in countries:
            self.kind[country.name] = "country"
            links["country", country.name] += [n for n in country.neighbours if n in inside]
            for kind in KINDS[1:]:
                for name in getattr(country, kind):
                    self.kind[name] = kind
                    links[kind, country.name].append(name)
                    links["country", name].append(country.name)
        self._links = {key: tuple(names) for key, names in links.items()}
        self.fitting = _clues(countries, self)
        """clue -> every name that it is true of. Clues are predicates, as in "begins with G", "borders Italy"."""

    def linked(self, known: str, kind: Kind) -> tuple[str, ...]:
        """All entities of a kind that are related to `known`: where it says "borders {known}", its neighbours."""
        return self._links.get((kind, known), ())

    def of_kind(self, kind: Kind) -> list[str]:
        """All names of a kind."""
        return [name for name, k in self.kind.items() if k == kind]


def _clues(countries: tuple[Country, ...], atlas: Atlas) -> dict[str, frozenset[str]]:
    fitting: defaultdict[str, set[str]] = defaultdict(set)
    for name in atlas.kind:
        fitting[f"begins with {name[0].upper()}"].add(name)
    for country in countries:
        for continent in country.continent:
            fitting[f"lies in {continent}"].add(country.name)
        for kind in KINDS:
            if kind != "capital":  # a capital gives its country away
                for name in atlas.linked(country.name, kind):
                    fitting[PREDICATES["country", kind].format(name)].add(country.name)
    return {clue: frozenset(names) for clue, names in fitting.items()}


@cache
def atlas(countries: int) -> Atlas:
    """The atlas of the first so many countries of the table."""
    return Atlas(read_facts()[:countries])


@cache
def clues_about(name: str) -> tuple[str, ...]:
    """Every clue that is true of a name in the whole table and of another one too, so that it is never enough alone.

    A country that is reckoned to two continents is not said to lie in either.
    """
    everything = atlas(len(read_facts()))
    clues = [clue for clue, names in everything.fitting.items() if name in names and len(names) > 1]
    continents = [clue for clue in clues if clue.startswith("lies in ")]
    return tuple(clue for clue in clues if clue not in continents or len(continents) == 1)
