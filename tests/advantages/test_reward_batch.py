"""RewardBatch: defaults, and errors that name the place and the remedy."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
import torch

from agents.advantages import RewardBatch


def test_defaults() -> None:
    rewards = torch.rand(2, 3, 4, 5)
    batch = RewardBatch(rewards)
    assert torch.equal(batch.rewards, rewards)
    assert batch.answered.shape == (2, 3, 4)
    assert batch.answered.all()
    assert batch.objective_mask.shape == (2, 5)
    assert batch.objective_mask.all()
    torch.testing.assert_close(batch.reference_weights, torch.full((2, 5), 0.2))
    assert torch.equal(batch.lower_bound, torch.zeros(5))
    torch.testing.assert_close(batch.scalars(), rewards.mean(dim=-1))


def test_reference_weights_are_renormalised_over_real_objectives() -> None:
    mask = torch.tensor([[True, True, True], [True, False, True]])
    batch = RewardBatch(torch.ones(2, 1, 1, 3), objective_mask=mask, reference_weights=np.array([1.0, 1.0, 2.0]))
    torch.testing.assert_close(batch.reference_weights, torch.tensor([[0.25, 0.25, 0.5], [1 / 3, 0.0, 2 / 3]]))
    torch.testing.assert_close(batch.scalars(), torch.ones(2, 1, 1))


def test_reference_weights_may_differ_per_prompt() -> None:
    batch = RewardBatch(torch.tensor([[[[1.0, 0.0]]], [[[1.0, 0.0]]]]), reference_weights=[[3, 1], [1, 3]])
    torch.testing.assert_close(batch.scalars().flatten(), torch.tensor([0.75, 0.25]))


def test_prompt_weights() -> None:
    mask = torch.tensor([[True, True, True], [True, False, True]])
    batch = RewardBatch(torch.ones(2, 1, 1, 3), objective_mask=mask, prompt_weights=[[1, 1, 2], [1, 5, 3]])
    torch.testing.assert_close(batch.prompt_weights, torch.tensor([[0.25, 0.25, 0.5], [0.25, 0.0, 0.75]]))
    assert RewardBatch(torch.ones(2, 1, 1, 3)).prompt_weights is None


def test_one_answer_scalars() -> None:
    """The second rollout gave no answer and has the lower bound of the objective that its prompt has."""
    batch = RewardBatch(
        torch.tensor([[[[0.5, 9.0]], [[0.7, 9.0]]]]),
        answered=torch.tensor([[[True], [False]]]),
        objective_mask=torch.tensor([[True, False]]),
        lower_bound=-2.0,
    )
    assert torch.equal(batch.one_answer_rewards("x"), torch.tensor([[[0.5, 0.0], [-2.0, 0.0]]]))
    assert torch.equal(batch.one_answer_scalars("x"), torch.tensor([[0.5, -2.0]]))
    assert torch.equal(batch.one_answer_scalars("x", torch.tensor([[0.5, 0.0]])), torch.tensor([[0.25, -1.0]]))


def test_the_callers_rewards_are_left_alone() -> None:
    rewards = torch.ones(1, 2, 2, 2)
    answered = torch.tensor([[[True, False], [False, False]]])
    batch = RewardBatch(rewards, answered)
    assert rewards.min() == 1
    assert torch.equal(batch.scalars(), torch.tensor([[[1.0, 0.0], [0.0, 0.0]]]))
    assert torch.equal(batch.silent, torch.tensor([[False, True]]))


def test_frozen_and_replaceable() -> None:
    mask = torch.tensor([[True, False]])
    batch = RewardBatch(torch.ones(1, 2, 1, 2), objective_mask=mask, lower_bound=-1.0)
    with pytest.raises(FrozenInstanceError):
        batch.rewards = torch.zeros(1, 2, 1, 2)  # type: ignore[misc]
    other = replace(batch, rewards=torch.zeros(1, 2, 1, 2))
    assert torch.equal(other.objective_mask, mask)
    assert torch.equal(other.reference_weights, torch.tensor([[1.0, 0.0]]))
    assert torch.equal(other.lower_bound, torch.tensor([-1.0, -1.0]))


def test_for_maximum_repeats_given_answers() -> None:
    rewards = torch.tensor([[[[0.1], [-0.2], [0.3]], [[0.7], [0.8], [0.9]]]])
    answered = torch.tensor([[[False, True, False], [False, False, False]]])
    batch = RewardBatch(rewards, answered, lower_bound=-5.0)
    assert torch.equal(batch.for_maximum().squeeze(-1), torch.tensor([[[-0.2, -0.2, -0.2], [-5.0, -5.0, -5.0]]]))


def ones_but(value: float, *position: int) -> torch.Tensor:
    rewards = torch.ones(2, 3, 2, 4)
    rewards[position] = value
    return rewards


ones = torch.ones(2, 3, 2, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rewards": np.ones((2, 3, 2, 4))}, TypeError, "not ndarray"),
        ({"rewards": ones.long()}, TypeError, "not torch.int64"),
        ({"rewards": ones.bfloat16()}, TypeError, "not torch.bfloat16"),
        ({"rewards": ones[0]}, ValueError, r"\(3, 2, 4\)"),
        ({"rewards": ones[:, :0]}, ValueError, r"\(2, 0, 2, 4\)"),
        ({"rewards": ones_but(np.nan, 1, 2, 0, 3)}, ValueError, r"rewards\[1, 2, 0, 3\].* is nan; 1 of 48"),
        ({"rewards": ones_but(-np.inf, 1, 2)}, ValueError, r"rewards\[1, 2, 0, 0\].* is -inf; 8 of 48"),
        ({"rewards": ones, "answered": torch.ones(2, 3, 2)}, TypeError, "answered must be a bool tensor"),
        ({"rewards": ones, "answered": torch.ones(2, 3, 1).bool()}, ValueError, r"answered.*\(2, 3, 2\).*\(2, 3, 1\)"),
        ({"rewards": ones, "answered": torch.ones(2, 3, 2, device="meta").bool()}, ValueError, "is on meta"),
        ({"rewards": ones, "objective_mask": torch.ones(4).bool()}, ValueError, r"objective_mask.*\(2, 4\)"),
        (
            {"rewards": ones, "objective_mask": torch.tensor([[True] * 4, [False] * 4])},
            ValueError,
            "prompt 1 has no real objective",
        ),
        ({"rewards": ones, "reference_weights": [1, 1, 1]}, ValueError, r"reference_weights.*\(3,\)"),
        ({"rewards": ones, "reference_weights": [1, 1, 1, -1]}, ValueError, "not negative"),
        ({"rewards": ones, "reference_weights": [0, 0, 0, 0]}, ValueError, "prompt 0 has no reference weight"),
        ({"rewards": ones, "prompt_weights": [1, 1, 1, 1]}, ValueError, r"prompt_weights.*\(2, 4\), not \(4,\)"),
        ({"rewards": ones, "prompt_weights": [[1] * 4, [0] * 4]}, ValueError, "prompt 1 has no prompt weight"),
        ({"rewards": ones, "lower_bound": [0.0, 1.0]}, ValueError, r"lower_bound.*\(2,\)"),
        (
            {"rewards": ones, "lower_bound": -np.inf, "answered": torch.arange(12).reshape(2, 3, 2) < 10},
            ValueError,
            r"rollout \[1, 2\].*gave no answer",
        ),
    ],
)
def test_errors(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        RewardBatch(**arguments)


def test_infinite_lower_bound_is_fine_where_nobody_needs_it() -> None:
    batch = RewardBatch(ones, lower_bound=-np.inf)
    assert batch.for_maximum().isfinite().all()
    assert batch.silent_scalar().isfinite().all()
