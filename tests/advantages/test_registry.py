"""The table of estimators, and what it says to a wrong name or option."""

from __future__ import annotations

import pytest
import torch

from agents.advantages import ESTIMATORS, ONE_ANSWER, RewardBatch, estimate, estimator_options

BATCH = RewardBatch(torch.rand(2, 4, 3, 2))


def test_table() -> None:
    assert {"vpo", "grpo", "multi_rlvr"} <= set(ESTIMATORS)
    assert set(ESTIMATORS) >= ONE_ANSWER
    assert estimator_options("vpo") == {"num_weights": 100, "alpha": 1.0, "sampler": "iid"}
    assert estimator_options("grpo") == {}


def test_unknown_estimator() -> None:
    with pytest.raises(
        ValueError, match=r"no estimator 'multi-rlvr'.*vpo, grpo, multi_rlvr.*did you mean 'multi_rlvr'"
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
