"""Generated chains: one answer in every layer, by a reading of the sentences that shares nothing with the generator."""

from __future__ import annotations

import csv
import pickle
import re
from collections import Counter
from pathlib import Path

import pytest
from helpers import outputs_under_hash_seeds

import vpo_envs.eureqa
from vpo_envs.eureqa import Chain, EureqaTask
from vpo_envs.eureqa.problems import official_row, parse_row

COUNTRIES = (10, 24, 50, 123)


def table() -> list[dict[str, list[str]]]:
    """The rows of facts.csv, each field a list of values."""
    lines = (Path(vpo_envs.eureqa.__file__).parent / "facts.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [{field: [v for v in value.split(";") if v] for field, value in row.items()} for row in rows]


TABLE = table()
ENTITIES = sorted({v for row in TABLE for f in ("country", "capital", "currency", "language") for v in row[f]})
OF_COUNTRIES = {  # predicate of a country -> the field that holds what follows it
    "borders ": "neighbours",
    "has the capital ": "capital",
    "pays with the ": "currency",
    "has the official language ": "language",
    "lies in ": "continent",
}
OF_OTHERS = {
    "is the capital of ": "capital",
    "is the currency of ": "currency",
    "is an official language of ": "language",
}


def fits(predicate: str) -> set[str]:
    """Every entity of the table that a predicate is true of, by looking at all of it."""
    for start, field in OF_COUNTRIES.items():
        if predicate.startswith(start):
            return {row["country"][0] for row in TABLE if predicate.removeprefix(start) in row[field]}
    for start, field in OF_OTHERS.items():
        if predicate.startswith(start):
            return {v for row in TABLE if row["country"] == [predicate.removeprefix(start)] for v in row[field]}
    assert predicate.startswith("begins with ")
    return {name for name in ENTITIES if name[0].upper() == predicate[-1]}


def predicates_of(chain: Chain, layer: int) -> list[str]:
    """The predicates of a sentence, with the true name in place of the next mask."""
    mask, text = f"[entity_{'ABCDE'[layer]}] ", chain.sentences[layer]
    assert text.startswith(mask)
    assert text.endswith(".")
    text = text.removeprefix(mask)[:-1]
    if layer < 4:
        following = f"[entity_{'ABCDE'[layer + 1]}]"
        assert text.count(following) == 1
        text = text.replace(following, chain.entities[layer + 1])
    relation, _, clue = text.partition(" and ")
    if relation.endswith(" Bosnia"):  # whose name holds an "and"
        relation, clue = relation + " and Herzegovina", clue.removeprefix("Herzegovina").removeprefix(" and ")
    return [relation, clue] if clue else [relation]


@pytest.mark.parametrize("countries", COUNTRIES)
def test_every_layer_has_exactly_one_answer_in_the_whole_table(countries):
    task = EureqaTask(countries=countries, num_problems=300)
    seen = Counter()
    for chain in (task[i] for i in range(300)):
        for layer in range(5):
            relation, *clue = predicates_of(chain, layer)
            kind_fits = fits(relation)
            if clue:
                assert len(kind_fits) > 1, "a clue that is not needed"
                assert len(fits(clue[0])) > 1, "a clue that is enough without the chain"
                assert not any(clue[0].endswith(f" {name}") for name in chain.entities), "a clue that names the chain"
                kind_fits &= fits(clue[0])
            assert kind_fits == {chain.entities[layer]}, chain.sentences[layer]
            seen[relation.removesuffix(chain.entities[layer + 1])] += 1
    assert set(seen) == {*OF_COUNTRIES, *OF_OTHERS} - {"lies in "}  # all seven relations
    assert min(seen.values()) >= 20


@pytest.mark.parametrize("countries", COUNTRIES)
def test_the_entities_are_six_different_ones_of_the_first_countries(countries):
    known = {v for row in TABLE[:countries] for f in ("country", "capital", "currency", "language") for v in row[f]}
    task = EureqaTask("test", countries=countries)
    for chain in (task[i] for i in range(100)):
        assert len({name.casefold() for name in chain.entities}) == 6
        assert set(chain.entities) <= known
        assert chain.entities[5] in chain.sentences[4]
        # The longest names first, so that "Luxembourg City" does not mention Luxembourg.
        mentioned = re.findall("|".join(sorted(ENTITIES, key=len, reverse=True)), "\n".join(chain.sentences))
        assert not set(mentioned) & set(chain.entities[:5])


@pytest.mark.parametrize("countries", COUNTRIES)
def test_no_chain_of_entities_is_in_both_splits(countries):
    train, test = (EureqaTask(split, countries=countries, num_problems=1000) for split in ("train", "test"))
    trained = {train[i].entities for i in range(1000)}
    assert trained.isdisjoint(test[i].entities for i in range(1000))
    assert len(trained) > 850  # many thousands in all


def test_the_solution_can_be_earned_on_every_chain():
    for countries in COUNTRIES:
        for split in ("train", "test"):
            task = EureqaTask(split, countries=countries)
            chains = [task[i] for i in range(100)]
            for m in (1, 3):
                prompts = [task.messages(chain, m)[0]["content"] for chain in chains]
                assert all("\n".join(c.sentences) in p for c, p in zip(chains, prompts, strict=True))
            gold = [task.gold(chain) for chain in chains]
            assert (task.score_batch(chains, gold) == 1).all()
            assert [task.extract(task.wrap(text)) for text in gold] == gold


def test_a_generated_chain_is_a_row_of_the_data_set():
    task = EureqaTask(num_problems=50)
    for i in range(50):
        assert parse_row(official_row(task[i], i)) == task[i]


def test_problems_are_made_when_they_are_asked_for():
    task = EureqaTask(num_problems=10**9)
    assert len(task) == 10**9
    assert task[10**9 - 1] != task[0]
    assert len(EureqaTask()) == 1000
    assert len(EureqaTask("test")) == 100
    for index in (-1, 1000):
        with pytest.raises(IndexError, match=f"chain {index} of 1000"):
            EureqaTask()[index]
    copy = pickle.loads(pickle.dumps(task))
    assert copy[5] == task[5]
    assert len(pickle.dumps(task)) < 1000


IN_ANOTHER_PROCESS = """
from random import Random
from vpo_envs.eureqa import EureqaTask
for countries in (10, 123):
    task = EureqaTask(countries=countries)
    for i in range(40):
        print(task[i], task.demonstration(task[i], Random(i)), task.normalise(task.gold(task[i])))
"""


def test_processes_with_different_hash_seeds_make_the_same_chains():
    outputs = outputs_under_hash_seeds(IN_ANOTHER_PROCESS)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 80


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"countries": 9}, "EUREQA: countries must be a whole number from 10 to 123, not 9"),
        ({"countries": 124}, "EUREQA: countries must be a whole number from 10 to 123, not 124"),
        ({"countries": True}, "EUREQA: countries must be a whole number"),
        ({"countries": "24"}, "EUREQA: countries must be a whole number from 10 to 123, not '24'"),
        ({"num_problems": 0}, "EUREQA: num_problems must be a whole number of at least 1, not 0"),
        ({"num_problems": 1.5}, "EUREQA: num_problems must be a whole number of at least 1, not 1.5"),
        ({"split": "dev"}, "split must be 'train' or 'test', not 'dev'"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        EureqaTask(**arguments)
