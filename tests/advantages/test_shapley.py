"""Credit per answer: Shapley shares against all orders of arrival, and what the advantages make of them."""

from __future__ import annotations

import advantage_reference as reference
import pytest
import torch
from advantage_reference import random_arguments, to_batch
from torch import Tensor

from agents.advantages import RewardBatch, estimate, sample_weights
from agents.advantages.normalise import group_znorm
from agents.advantages.shapley import shapley_shares
from agents.advantages.vpo import set_score


def draw(batch: RewardBatch, num_weights: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return sample_weights(batch.objective_mask, num_weights, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
def test_shares_by_all_orders_of_arrival(m: int, ties: bool) -> None:
    arguments = random_arguments(m, m=m, b=3, g=4)
    if ties:
        arguments["rewards"] = arguments["rewards"].round()
    batch = to_batch(arguments)
    weights = draw(batch, 6)
    torch.testing.assert_close(shapley_shares(batch, weights), reference.shapley_shares(arguments, weights))


def test_shares_by_hand() -> None:
    """Utilities 0.2, 0.5, 0.5, 0.9: steps 0.2 / 4, 0.3 / 3, 0 / 2, 0.4 / 1, each shared by those who take it."""
    batch = RewardBatch(torch.tensor([0.5, 0.9, 0.2, 0.5], dtype=torch.float64).view(1, 1, 4, 1))
    shares = shapley_shares(batch, torch.ones(1, 1, 1, dtype=torch.float64))
    expected = torch.tensor([[[0.15, 0.55, 0.05, 0.15]]], dtype=torch.float64)
    torch.testing.assert_close(shares, expected)


@pytest.mark.parametrize("seed", range(5))
def test_shares_sum_to_the_set_score_above_the_floor(seed: int) -> None:
    """Silent rollouts included: they score the floor, so nothing is shared."""
    arguments = random_arguments(seed, m=4)
    batch = to_batch(arguments)
    weights = draw(batch, 20)
    floor = (weights @ batch.lower_bound).mean(dim=1, keepdim=True)
    shares = shapley_shares(batch, weights)
    torch.testing.assert_close(shares.sum(dim=-1), set_score(batch, weights) - floor)
    assert (shares[~batch.answered] == 0).all()
    assert (shares[batch.answered] > 0).all()


def test_a_specialist_earns_more_than_a_copy_of_the_generalist() -> None:
    """What one scalar hides: under w* all four answers are worth 0.5, but the specialist is what the set lacks."""
    specialist, generalist, nearly = [1.0, 0.0], [0.5, 0.5], [0.49, 0.51]
    batch = RewardBatch(torch.tensor([[[specialist, generalist, nearly], [generalist, nearly, nearly]]]))
    answers = estimate("vpo_shapley", batch, torch.Generator().manual_seed(0))[0, 0, 1:]
    assert answers[0] > answers[1] + 0.5
    assert (estimate("shape_grpo", batch) == 0).all()


@pytest.mark.parametrize("name", ["vpo_shapley", "shape_grpo"])
def test_the_answers_of_a_rollout_sum_to_its_centred_set_score(name: str) -> None:
    """Up to the group's one divisor, with absent answers and silent rollouts too."""
    arguments = random_arguments(3, m=3)
    batch = to_batch(arguments)
    seed = torch.Generator().manual_seed(0)
    weights = draw(batch, 100) if name == "vpo_shapley" else batch.reference_weights[:, None]
    advantages = estimate(name, batch, seed)
    score = set_score(batch, weights)
    sums = advantages[..., 1:].sum(dim=-1)
    torch.testing.assert_close(group_znorm(sums), group_znorm(score), rtol=0, atol=1e-4)
    torch.testing.assert_close(advantages[..., 0], group_znorm(score))
    spread = advantages[..., 1:].flatten(1).std(dim=1, correction=0)
    torch.testing.assert_close(spread, torch.ones_like(spread), rtol=0, atol=1e-4)


def test_tokens_outside_of_answers_get_what_vpo_gives() -> None:
    batch = to_batch(random_arguments(4))
    options = {"num_weights": 16, "alpha": 0.5, "sampler": "sobol"}
    split = estimate("vpo_shapley", batch, torch.Generator().manual_seed(7), **options)
    assert torch.equal(split[..., 0], estimate("vpo", batch, torch.Generator().manual_seed(7), **options))


def test_a_repeated_answer_gets_what_a_useless_one_gets() -> None:
    rewards = torch.tensor([[[[0.8], [0.8]], [[0.6], [0.0]]]])
    repeated = estimate("shape_grpo", RewardBatch(rewards, torch.tensor([[[True, False], [True, True]]])))
    assert repeated[0, 0, 2] == repeated[0, 1, 2] < 0
    assert repeated[0, 0, 1] > repeated[0, 1, 1] > 0
