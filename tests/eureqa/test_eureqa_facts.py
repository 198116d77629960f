"""The table of facts is consistent, complete for what is asked of it, and well connected."""

from __future__ import annotations

import pytest

from vpo_envs.eureqa.atlas import KINDS, PREDICATES, Atlas, atlas, clues_about, read_facts
from vpo_envs.text_match import normalise

FACTS = {country.name: country for country in read_facts()}


def test_the_table_is_as_large_as_the_class_says():
    assert len(read_facts()) == len(FACTS) == 123


def test_neighbours_are_countries_of_the_table_and_mutual():
    for country in FACTS.values():
        assert len(set(country.neighbours)) == len(country.neighbours)
        assert country.name not in country.neighbours
        for neighbour in country.neighbours:
            assert country.name in FACTS[neighbour].neighbours, (country.name, neighbour)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        *[("Germany", 9), ("France", 8), ("Austria", 8), ("Hungary", 7), ("Switzerland", 5), ("Poland", 7)],
        *[("China", 14), ("Russia", 14), ("Turkey", 8), ("Iran", 7), ("Brazil", 9), ("Argentina", 5), ("Japan", 0)],
    ],
)
def test_the_number_of_neighbours_is_the_known_one(name, count):
    # France without its overseas parts, Brazil without French Guiana.
    assert len(FACTS[name].neighbours) == count


@pytest.mark.parametrize(
    ("name", "capital", "currency", "language"),
    [
        ("Switzerland", "Bern", ("franc",), ("German", "French", "Italian", "Romansh")),
        ("Kazakhstan", "Astana", ("tenge",), ("Kazakh", "Russian")),
        ("Brazil", "Brasilia", ("real",), ("Portuguese",)),
        ("Pakistan", "Islamabad", ("rupee",), ("Urdu", "English")),
        ("Croatia", "Zagreb", ("euro",), ("Croatian",)),
    ],
)
def test_some_facts_that_everybody_can_check(name, capital, currency, language):
    country = FACTS[name]
    assert (country.capital, country.currency, country.language) == ((capital,), currency, language)


def test_every_country_has_a_currency_a_language_and_a_continent():
    for country in FACTS.values():
        assert country.currency, country.name
        assert country.language, country.name
        assert 1 <= len(country.continent) <= 2
        assert len(country.capital) <= 1
    assert sum(not country.capital for country in FACTS.values()) <= 10


def test_no_name_is_of_two_kinds_and_no_two_names_of_a_kind_are_alike():
    seen: dict[str, str] = {}
    for country in FACTS.values():
        for kind in KINDS:
            for name in [country.name] if kind == "country" else getattr(country, kind):
                assert seen.setdefault(name, kind) == kind, name
                assert name.isascii()
                assert name == name.strip()
    for kind in KINDS:
        names = [name for name, k in seen.items() if k == kind]
        assert len({normalise(name) for name in names}) == len(names)
    capitals = [country.capital[0] for country in FACTS.values() if country.capital]
    assert len(set(capitals)) == len(capitals)


@pytest.mark.parametrize("countries", range(10, 88))
def test_the_first_countries_can_be_walked_over_land(countries):
    names = {country.name for country in read_facts()[:countries]}
    reached, frontier = set(), {"Germany"}
    while frontier:
        reached |= frontier
        frontier = {n for name in frontier for n in FACTS[name].neighbours if n in names} - reached
    assert reached == names


def test_relations_go_both_ways_and_stay_inside():
    small = atlas(12)
    assert small.linked("Germany", "capital") == ("Berlin",)
    assert small.linked("Berlin", "country") == ("Germany",)
    assert "Denmark" not in small.linked("Germany", "country")  # not among the first 12
    assert set(small.linked("koruna", "country")) == {"Czechia"}
    assert small.linked("nowhere", "country") == ()
    assert len(PREDICATES) == 7


def test_clues_are_true_and_never_enough_alone():
    everything = Atlas(read_facts())
    clues = clues_about("Switzerland")
    assert {"borders Austria", "pays with the franc", "has the official language German", "begins with S"} < set(clues)
    assert "has the official language Romansh" not in clues  # only one country has it
    for name in everything.kind:
        for clue in clues_about(name):
            assert name in everything.fitting[clue]
            assert len(everything.fitting[clue]) > 1
    assert not any(clue.startswith("lies in") for clue in clues_about("Turkey"))  # of two continents
    assert "Turkey" in everything.fitting["lies in Europe"]
    assert "Turkey" in everything.fitting["lies in Asia"]
