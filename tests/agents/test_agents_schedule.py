"""Which problems a step asks, and its seeds: functions of (seed, step) alone."""

from __future__ import annotations

from itertools import product

import pytest

from agents.environment import TEST_SEEDS
from agents.schedule import problems_of_step, seed_of_step, steps_for


@pytest.mark.parametrize(("num_problems", "prompts"), [(12, 4), (10, 4), (3, 8), (1, 1)])
def test_every_problem_comes_once_per_epoch(num_problems: int, prompts: int) -> None:
    """Also where steps cross the border of an epoch, or a step is longer than one."""
    epochs = 4
    asked = [
        p
        for step in range(steps_for(epochs, prompts, num_problems))
        for p in problems_of_step(step, prompts, range(num_problems), 0)
    ]
    for epoch in range(epochs):
        assert sorted(asked[epoch * num_problems : (epoch + 1) * num_problems]) == list(range(num_problems))
    assert epochs * num_problems <= len(asked) < epochs * num_problems + prompts


def test_order_is_new_for_every_epoch_and_seed_and_repeats_itself() -> None:
    orders = {
        (seed, epoch): tuple(problems_of_step(epoch, 50, range(50), seed))
        for seed, epoch in product(range(4), range(4))
    }
    assert len(set(orders.values())) == 16
    for (seed, epoch), order in orders.items():
        assert tuple(problems_of_step(epoch, 50, range(50), seed)) == order


def test_environments_without_splits_never_ask_a_test_problem_in_training() -> None:
    for seed in (0, 1, 89, 90, 12345, 2**31):
        asked = [p for step in (0, 1, 99_999) for p in problems_of_step(step, 128, None, seed)]
        assert len(set(asked)) == len(asked)
        assert min(asked) >= 0
        assert max(asked) < TEST_SEEDS
        assert asked == [p for step in (0, 1, 99_999) for p in problems_of_step(step, 128, None, seed)]


def test_runs_with_other_seeds_ask_other_problems() -> None:
    runs = [set(problems_of_step(0, 1000, None, seed)) for seed in range(5)]
    assert len(set.union(*runs)) == 5000


def test_seeds_of_steps_are_distinct_and_valid() -> None:
    keys = list(product(range(5), range(200), ("generation", "weights")))
    seeds = [seed_of_step(*key) for key in keys]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seeds == [seed_of_step(*key) for key in keys]
