"""The table of estimators, and what it says to a wrong name or option."""

from __future__ import annotations

import re

import pytest
import torch

from agents.advantages import (
    ESTIMATORS,
    NEEDS_PROMPT_WEIGHTS,
    ONE_ANSWER,
    PER_ANSWER,
    RewardBatch,
    estimate,
    estimator_options,
)

BATCH = RewardBatch(torch.rand(2, 4, 3, 2), prompt_weights=torch.ones(2, 2))


def test_table() -> None:
    assert set(ESTIMATORS) == ONE_ANSWER | {"vpo", "best_of_set", "multi_rlvr", "vpo_shapley", "shape_grpo"}
    assert set(ESTIMATORS) - ONE_ANSWER >= PER_ANSWER
    assert ONE_ANSWER >= NEEDS_PROMPT_WEIGHTS
    assert estimator_options("vpo") == {"num_weights": 100, "alpha": 1.0, "sampler": "iid"}
    assert estimator_options("vpo_shapley") == estimator_options("vpo")
    assert estimator_options("grpo") == {}
    for name in ("max_at_k", "pass_at_k", "maxpo", "poly"):
        assert estimator_options(name) == {"k": 4}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_documents_its_shape_and_options(name: str) -> None:
    documentation = ESTIMATORS[name].__doc__ or ""
    assert documentation.startswith("(B, G, 1 + m): " if name in PER_ANSWER else "(B, G): ")
    if name != "vpo":  # which refers to sample_weights
        for option in estimator_options(name):
            assert re.search(rf"^ {{8}}{option}: ", documentation, re.MULTILINE)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_number_of_answers_and_the_shape_are_as_the_registry_says(name: str) -> None:
    answers = 1 if name in ONE_ANSWER else 3
    batch = RewardBatch(torch.rand(2, 5, answers, 2), prompt_weights=torch.ones(2, 2))
    assert estimate(name, batch).shape == ((2, 5, 1 + answers) if name in PER_ANSWER else (2, 5))


def test_unknown_estimator() -> None:
    with pytest.raises(
        ValueError,
        match=r"no estimator 'multi-rlvr'.*vpo, vpo_shapley, best_of_set, multi_rlvr.*did you mean 'multi_rlvr'",
    ):
        estimate("multi-rlvr", BATCH)


def test_unknown_option() -> None:
    with pytest.raises(TypeError, match=r"vpo has no option 'n_weights': its options are num_weights, alpha, sampler"):
        estimate("vpo", BATCH, n_weights=3)
    with pytest.raises(TypeError, match=r"multi_rlvr has no option 'alpha': it has none"):
        estimate("multi_rlvr", BATCH, alpha=1.0)


@pytest.mark.parametrize("name", sorted(ONE_ANSWER))
def test_one_answer_estimators_say_what_to_do(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} needs exactly one answer per rollout and got 3: .*num_answers=1"):
        estimate(name, BATCH)


def test_goal_conditioned_says_where_its_weights_come_from() -> None:
    with pytest.raises(ValueError, match=r"each prompt asked for.*Task\.messages\(problem, weights=.*prompt_weights"):
        estimate("goal_conditioned", RewardBatch(torch.rand(2, 4, 1, 2)))


@pytest.mark.parametrize("name", ["maxrl", "poly"])
def test_negative_scores_are_refused_where_only_ratios_mean_something(name: str) -> None:
    rewards = torch.ones(2, 6, 1, 2)
    rewards[1, 3] = -0.5
    with pytest.raises(ValueError, match=rf"{name} .*rollout \[1, 3\].*scores -0.5: add a constant"):
        estimate(name, RewardBatch(rewards))


@pytest.mark.parametrize(
    ("name", "group", "k", "message"),
    [
        ("max_at_k", 4, 4, "max_at_k with k=4 needs groups of at least 5 rollouts and got 4: lower k to 3"),
        ("maxpo", 4, 4, "maxpo with k=4 needs groups of at least 5 rollouts and got 4"),
        ("poly", 4, 4, "poly with k=4 needs groups of at least 5 rollouts and got 4"),
        ("pass_at_k", 4, 5, "pass_at_k with k=5 needs groups of at least 5 rollouts and got 4: lower k to 4"),
        ("pass_at_k", 1, 1, "pass_at_k compares the rollouts of a group and got 1"),
        ("max_at_k", 1, 1, "max_at_k compares the rollouts of a group and got 1"),
        ("max_at_k", 4, 0, "max_at_k: k must be a whole number of at least 1, not 0"),
        ("pass_at_k", 4, 2.0, "pass_at_k: k must be a whole number of at least 1, not 2.0"),
        ("poly", 4, True, "poly: k must be a whole number of at least 1, not True"),
    ],
)
def test_subset_sizes_that_do_not_fit(name: str, group: int, k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate(name, RewardBatch(torch.rand(2, group, 1, 2)), k=k)
