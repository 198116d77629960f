"""Every estimator against its slow reference, to 1e-6."""

from __future__ import annotations

from typing import Any

import advantage_reference as reference
import pytest
import torch
from advantage_reference import random_arguments, to_batch

from agents.advantages import estimate, sample_weights
from agents.advantages.vpo import set_score

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_weights": 7},
        {"num_weights": 16, "sampler": "sobol"},
        {"alpha": 0.3},
        {"alpha": 2.0, "sampler": "sobol"},
    ],
    ids=str,
)
def test_vpo(seed: int, options: dict) -> None:
    arguments = random_arguments(seed, m=1 + seed % 4)
    batch = to_batch(arguments)
    drawn = sample_weights(
        batch.objective_mask,
        options.get("num_weights", 100),
        alpha=options.get("alpha", 1.0),
        sampler=options.get("sampler", "iid"),
        dtype=torch.float64,
        generator=torch.Generator().manual_seed(seed),
    )
    advantages = estimate("vpo", batch, torch.Generator().manual_seed(seed), **options)
    torch.testing.assert_close(advantages, reference.vpo(arguments, drawn), rtol=0, atol=1e-6)


def single_answers(seed: int, not_negative: bool = False, **shape: int) -> dict[str, Any]:
    arguments = random_arguments(seed, m=1, **shape)
    if not_negative:
        arguments["lower_bound"] = -arguments["lower_bound"]
    return arguments


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["grpo", "dr_grpo", "gdpo", "maxrl"])
def test_single_answers(name: str, seed: int) -> None:
    arguments = single_answers(seed, not_negative=name == "maxrl")
    expected = getattr(reference, name)(arguments)
    torch.testing.assert_close(estimate(name, to_batch(arguments)), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_random_weight(seed: int, alpha: float) -> None:
    arguments = single_answers(seed)
    batch = to_batch(arguments)
    drawn = sample_weights(
        batch.objective_mask, 1, alpha=alpha, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    advantages = estimate("random_weight", batch, torch.Generator().manual_seed(seed), alpha=alpha)
    torch.testing.assert_close(advantages, reference.under_weights(arguments, drawn[:, 0].tolist()), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_goal_conditioned(seed: int) -> None:
    arguments = single_answers(seed)
    expected = reference.under_weights(arguments, arguments["prompt_weights"].tolist())
    torch.testing.assert_close(estimate("goal_conditioned", to_batch(arguments)), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("k", range(1, 8))
@pytest.mark.parametrize("name", ["max_at_k", "pass_at_k", "maxpo"])
@pytest.mark.parametrize("ties", [False, True])
def test_best_of_k_by_enumeration(name: str, k: int, ties: bool) -> None:
    arguments = single_answers(k, g=8)
    if ties:
        arguments["rewards"] = arguments["rewards"].round()
    expected = reference.of_scalars(arguments, lambda scores: getattr(reference, name)(scores, k))
    torch.testing.assert_close(estimate(name, to_batch(arguments), k=k), expected, rtol=0, atol=1e-12)


def test_pass_at_the_whole_group() -> None:
    """k = G: there is one subset, and only its best adds anything."""
    arguments = single_answers(0, g=5)
    expected = reference.of_scalars(arguments, lambda scores: reference.pass_at_k(scores, 5))
    assert ((expected > 0).sum(dim=1) == 1).all()
    torch.testing.assert_close(estimate("pass_at_k", to_batch(arguments), k=5), expected, rtol=0, atol=1e-12)


def test_large_groups_keep_their_precision() -> None:
    """256 rollouts, k = 128: C(255, 128) is 5e75. By hand: the best of all is in every subset that contains it."""
    scores = torch.arange(256, dtype=torch.float32).view(1, 256, 1, 1) / 255
    for name in ("max_at_k", "pass_at_k"):
        single = estimate(name, to_batch({"rewards": scores}), k=128)
        double = estimate(name, to_batch({"rewards": scores.double()}), k=128)
        assert double.isfinite().all()
        torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-5)
        # the mean best of a k-subset of n evenly spaced values is at rank k (n + 1) / (k + 1)
        without_best = (128 * 256 / 129 if name == "max_at_k" else 127 * 256 / 128) - 1
        assert double[0, -1].item() == pytest.approx(128 * (1 - without_best / 255))


@pytest.mark.parametrize("k", range(1, 7))
@pytest.mark.parametrize("values", [2, 3, 1000], ids=["many_equal", "some_equal", "none_equal"])
def test_poly_by_enumeration(k: int, values: int) -> None:
    arguments = single_answers(k, not_negative=True, g=7, k=2)
    arguments["rewards"] = (arguments["rewards"] * (values - 1)).round() / (values - 1)
    expected = torch.tensor(
        [
            reference.poly([rollout[0] for rollout in group], [reference.dot(w, r[0]) for r in group], k)
            for group, w in zip(reference.groups(arguments), reference.reference_weights(arguments), strict=True)
        ],
        dtype=torch.float64,
    )
    torch.testing.assert_close(estimate("poly", to_batch(arguments), k=k), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_multi_rlvr(seed: int) -> None:
    arguments = random_arguments(seed, m=1 + seed % 4)
    torch.testing.assert_close(
        estimate("multi_rlvr", to_batch(arguments)), reference.multi_rlvr(arguments), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_best_of_set(seed: int) -> None:
    arguments = random_arguments(seed, m=1 + seed % 4)
    torch.testing.assert_close(
        estimate("best_of_set", to_batch(arguments)), reference.best_of_set(arguments), rtol=0, atol=1e-6
    )


def test_by_hand() -> None:
    """Two rollouts, two objectives, all weight on either: the pair of specialists beats the pair of generalists."""
    rewards = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.6], [0.6, 0.6]]]])
    answered = torch.tensor([[[True, True], [True, False]]])
    batch = to_batch({"rewards": rewards, "answered": answered})
    corners = torch.eye(2)[None]
    torch.testing.assert_close(set_score(batch, corners), torch.tensor([[1.0, 0.6]]))
    torch.testing.assert_close(set_score(batch, torch.full((1, 1, 2), 0.5)), torch.tensor([[0.5, 0.6]]))
    # multi_rlvr: 0.5 + 0.5 against 0.6 (the repetition is not answered)
    torch.testing.assert_close(estimate("multi_rlvr", batch), torch.tensor([[1.0, -1.0]]), rtol=0, atol=1e-5)
