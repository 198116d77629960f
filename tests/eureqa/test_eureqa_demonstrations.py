"""Demonstrations are well formed, often right, and differ in where they are wrong."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from eureqa_helpers import GOLD, ROW

from vpo_envs.eureqa import EureqaTask
from vpo_envs.eureqa.atlas import atlas
from vpo_envs.eureqa.chain import entity_elements
from vpo_envs.eureqa.problems import parse_row


@pytest.fixture(scope="module", params=[10, 24, 123])
def drawn(request):
    """(task, rewards (300, 4, 5)) of four demonstrations for each of 300 chains."""
    task, rng = EureqaTask(countries=request.param, num_problems=300), Random(0)
    chains = [task[i] for i in range(300) for _ in range(4)]
    texts = [task.demonstration(chain, rng) for chain in chains]
    return task, texts, task.score_batch(chains, texts).reshape(300, 4, 5)


def test_each_is_all_five_names_from_the_leaf_upwards(drawn):
    task, texts, _ = drawn
    for text in texts:
        assert [letter for letter, _ in entity_elements(text)] == list("EDCBA")
        assert task.extract(text) == text
        assert all(name in atlas(task.countries).kind for _, name in entity_elements(text))


def test_each_layer_is_right_more_often_than_not_and_all_of_them_seldom(drawn):
    _, _, rewards = drawn
    assert (rewards.mean((0, 1)) > 0.6).all()
    assert (rewards.mean((0, 1)) < 0.9).all()
    everything = (rewards == 1).all(2).mean()
    assert 0.2 < everything < 0.5


def test_four_of_a_chain_differ_in_what_they_get_right(drawn):
    _, _, rewards = drawn
    kinds = [len(np.unique(four, axis=0)) for four in rewards]
    assert np.mean(kinds) > 2.3
    best = rewards.max(1).mean()  # what a set finds together
    assert best > rewards.mean() + 0.15
    # Right above a wrong layer, and wrong above a right one: errors are not only inherited.
    below, above = rewards[..., 4], rewards[..., 3]
    assert ((below == 0) & (above == 1)).mean() > 0.05
    assert ((below == 1) & (above == 0)).mean() > 0.05


def test_errors_are_near_misses():
    task = EureqaTask(num_problems=200)
    facts = atlas(task.countries)
    for i in range(200):
        for letter, name in entity_elements(task.demonstration(task[i], Random(i))):
            assert facts.kind[name] == facts.kind[task[i].entities["ABCDE".index(letter)]]


def test_chains_about_other_facts_confuse_their_own_names():
    task, chain = EureqaTask(), parse_row(ROW)
    texts = {task.demonstration(chain, Random(seed)) for seed in range(50)}
    assert len(texts) > 10
    for text in texts:
        assert {name for _, name in entity_elements(text)} <= set(GOLD)
    rewards = task.score_batch([chain] * len(texts), sorted(texts))
    assert 0.4 < rewards.mean() < 0.95
