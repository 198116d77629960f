"""What must hold for every estimator, whatever its formula. A new estimator joins by being in the table."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from advantage_reference import random_arguments, to_batch
from torch import Tensor

from agents.advantages import ESTIMATORS, ONE_ANSWER, PER_ANSWER, RewardBatch, estimate

NAMES = list(ESTIMATORS)
DRAWS_WEIGHTS = {"vpo", "vpo_shapley", "random_weight"}
NOT_NEGATIVE = {"maxrl", "poly"}  # defined for scores of at least 0, of which they use the ratios


def each_but(*left_out: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name in NAMES if name not in left_out])


each = each_but()


def arguments_for(name: str, seed: int = 0, **shape: int) -> dict[str, Any]:
    arguments = random_arguments(seed, m=1 if name in ONE_ANSWER else 3, **shape)
    if name in NOT_NEGATIVE:
        arguments["lower_bound"] = -arguments["lower_bound"]
    return arguments


def plain_batch(rewards: Tensor) -> RewardBatch:
    """All answered, all objectives real, equal weights, asked for as well."""
    return to_batch({"rewards": rewards, "prompt_weights": torch.ones_like(rewards[:, 0, 0])})


def run(name: str, batch: RewardBatch, seed: int = 11, **options: Any) -> Tensor:
    return estimate(name, batch, torch.Generator().manual_seed(seed), **options)


@each
def test_shape_dtype_and_scale(name: str) -> None:
    arguments = arguments_for(name, b=3, g=7)
    for dtype in (torch.float32, torch.float64):
        advantages = run(name, to_batch(arguments, rewards=arguments["rewards"].to(dtype)))
        assert advantages.shape == ((3, 7, 4) if name in PER_ANSWER else (3, 7))
        assert advantages.dtype == dtype
        assert advantages.isfinite().all()
        assert advantages.abs().max() > 0.1


@each_but("pass_at_k")
def test_a_group_sums_to_zero(name: str) -> None:
    advantages = run(name, to_batch(arguments_for(name)))
    if name in PER_ANSWER:  # the rollouts' own and the answers' are standardised apart
        answers = advantages[..., 1:].mean(dim=(1, 2))
        torch.testing.assert_close(answers, torch.zeros_like(answers), rtol=0, atol=1e-12)
        advantages = advantages[..., 0]
    torch.testing.assert_close(advantages.mean(dim=1), torch.zeros_like(advantages[:, 0]), rtol=0, atol=1e-12)


def test_pass_at_k_never_punishes() -> None:
    """For k >= 2: a rollout can only add to the best of the others, so a group sums to more than 0."""
    advantages = run("pass_at_k", to_batch(arguments_for("pass_at_k")))
    assert (advantages.amin(dim=1) == 0).all()
    assert (advantages.sum(dim=1) > 0.1).all()


@each
def test_rollouts_permute(name: str) -> None:
    arguments = arguments_for(name)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    permuted = to_batch(arguments, rewards=arguments["rewards"][:, order], answered=arguments["answered"][:, order])
    torch.testing.assert_close(run(name, permuted), run(name, to_batch(arguments))[:, order])


@each_but(*ONE_ANSWER)
def test_order_of_answers_does_not_matter(name: str) -> None:
    arguments = arguments_for(name)
    order = torch.tensor([2, 0, 1])
    permuted = to_batch(
        arguments, rewards=arguments["rewards"][:, :, order], answered=arguments["answered"][:, :, order]
    )
    expected = run(name, to_batch(arguments))
    if name in PER_ANSWER:
        expected = expected[..., [0, 3, 1, 2]]
    torch.testing.assert_close(run(name, permuted), expected)


@each
def test_equal_rollouts_get_equal_advantages(name: str) -> None:
    """Whatever their order: rollouts 0, 2, 5 are the same, and so are 1, 4."""
    arguments = arguments_for(name)
    for key in ("rewards", "answered"):
        arguments[key] = arguments[key][:, [0, 1, 0, 2, 1, 0]]
    advantages = run(name, to_batch(arguments))
    assert torch.equal(advantages[:, [2, 4, 5]], advantages[:, [0, 1, 0]])


@each_but(*NOT_NEGATIVE)
def test_a_constant_changes_nothing(name: str) -> None:
    """With all answers given: a sum over fewer answers would move less."""
    arguments = arguments_for(name)
    del arguments["answered"]
    shifted = to_batch(arguments, rewards=arguments["rewards"] + 2.5)
    torch.testing.assert_close(run(name, shifted), run(name, to_batch(arguments)))


def test_maxrl_takes_ratios() -> None:
    arguments = arguments_for("maxrl")
    scaled = to_batch(arguments, rewards=3 * arguments["rewards"], lower_bound=3 * arguments["lower_bound"])
    torch.testing.assert_close(run("maxrl", scaled), run("maxrl", to_batch(arguments)), rtol=1e-4, atol=0)


@each
@pytest.mark.parametrize("value", [0.0, 1.0 / 3.0, 1.0, -987.6])
def test_group_of_equals_gets_nothing(name: str, value: float) -> None:
    rewards = arguments_for(name)["rewards"].float()
    rewards[1] = abs(value) if name in NOT_NEGATIVE else value
    advantages = run(name, plain_batch(rewards))
    assert (advantages[1] == 0).all()
    others = advantages[[0, 2]] != 0
    assert others.any(dim=1).all() if name == "pass_at_k" else others.all()  # the worst k - 1 add nothing


@each
@pytest.mark.parametrize("noise", [1e-7, -1e-7])
def test_rounding_noise_gets_nothing(name: str, noise: float) -> None:
    rewards = torch.full((1, 6, 1, 2), 0.5, dtype=torch.float64)
    rewards[0, 0] += noise
    assert (run(name, plain_batch(rewards)) == 0).all()
    rewards[0, 0] += 1e-4
    assert (run(name, plain_batch(rewards))[0, 0] > 0).all()


@each
@pytest.mark.parametrize("junk", [1e6, -1e6, float("nan"), float("inf")])
def test_ignored_entries_never_matter(name: str, junk: float) -> None:
    arguments = arguments_for(name)
    ignored = ~(arguments["answered"][..., None] & arguments["objective_mask"][:, None, None, :])
    assert ignored.any()
    spoilt = arguments["rewards"].masked_fill(ignored, junk)
    assert torch.equal(run(name, to_batch(arguments, rewards=spoilt)), run(name, to_batch(arguments)))


@each_but(*DRAWS_WEIGHTS)
def test_padding_changes_nothing(name: str) -> None:
    arguments = arguments_for(name, k=4)
    arguments["objective_mask"][:] = torch.tensor([True, True, True, False])
    unpadded = {
        "rewards": arguments["rewards"][..., :3],
        "answered": arguments["answered"],
        "reference_weights": arguments["reference_weights"][:3],
        "lower_bound": arguments["lower_bound"][:3],
        "prompt_weights": arguments["prompt_weights"][:, :3],
    }
    torch.testing.assert_close(run(name, to_batch(arguments)), run(name, to_batch(unpadded)))


def test_padding_changes_nothing_for_equal_weights() -> None:
    """`vpo` draws other weights when there are more columns, so its scores are given the same ones."""
    from agents.advantages.shapley import shapley_shares
    from agents.advantages.vpo import set_score

    arguments = arguments_for("vpo", k=4)
    arguments["objective_mask"][:] = torch.tensor([True, False, True, True])
    kept = [0, 2, 3]
    unpadded = to_batch(
        {
            "rewards": arguments["rewards"][..., kept],
            "answered": arguments["answered"],
            "lower_bound": arguments["lower_bound"][kept],
        }
    )
    weights = torch.rand(5, 9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weights[..., 1] = 0  # as sample_weights leaves masked objectives
    for score in (set_score, shapley_shares):
        torch.testing.assert_close(score(to_batch(arguments), weights), score(unpadded, weights[..., kept]))


@each
def test_silent_rollout_scores_the_lower_bound(name: str) -> None:
    """As if it had answered once, with the lower bound."""
    arguments = arguments_for(name)
    arguments["answered"][:, 2] = False
    spelt_out = {key: value.clone() for key, value in arguments.items()}
    spelt_out["answered"][:, 2, 0] = True
    spelt_out["rewards"][:, 2, 0] = arguments["lower_bound"]
    silent, spelt = run(name, to_batch(arguments)), run(name, to_batch(spelt_out))
    torch.testing.assert_close(silent, spelt)


@each
def test_float32_agrees_with_float64(name: str) -> None:
    arguments = arguments_for(name)
    single = run(name, to_batch(arguments, rewards=arguments["rewards"].float()))
    torch.testing.assert_close(single.double(), run(name, to_batch(arguments)), rtol=0, atol=2e-5)


@each
def test_other_groups_do_not_matter(name: str) -> None:
    """But for one factor of all groups, where the estimator normalises over the batch."""
    arguments = arguments_for(name)
    before = run(name, to_batch(arguments))[0]
    arguments["rewards"][1:] = arguments["rewards"][1:].flip(0) ** 2
    arguments["answered"][1:] = ~arguments["answered"][1:]
    arguments["objective_mask"][1:] = True
    after = run(name, to_batch(arguments))[0]
    if name == "gdpo":
        assert not torch.equal(after, before)
        torch.testing.assert_close(after / after.norm(), before / before.norm())
    else:
        assert torch.equal(after, before)


@each
def test_a_generator_is_the_only_source(name: str) -> None:
    batch = to_batch(arguments_for(name))
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = run(name, batch)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    assert torch.equal(run(name, batch), first)


@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.5}, {"sampler": "sobol"}, {"sampler": "sobol", "alpha": 0.5}], ids=str
)
def test_vpo_options_draw_from_the_generator_only(options: dict[str, Any]) -> None:
    batch = to_batch(arguments_for("vpo"))
    state = torch.get_rng_state()
    first = run("vpo", batch, **options)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(run("vpo", batch, **options), first)
    assert not torch.equal(run("vpo", batch, seed=12, **options), first)


def test_vpo_without_a_generator_follows_the_global_seed() -> None:
    batch = to_batch(arguments_for("vpo"))
    torch.manual_seed(5)
    first = estimate("vpo", batch)
    assert not torch.equal(estimate("vpo", batch), first)
    torch.manual_seed(5)
    assert torch.equal(estimate("vpo", batch), first)


@each
def test_no_gradient_flows(name: str) -> None:
    rewards = arguments_for(name)["rewards"].requires_grad_()
    assert not run(name, plain_batch(rewards)).requires_grad
