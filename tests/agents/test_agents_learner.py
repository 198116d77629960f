"""The policy-gradient step against one that is spelled out, and what must not change it."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
import torch
from agents_helpers import family_model, sampled_rollouts
from learner_reference import reference_step, token_loss
from torch import Tensor
from transformers import PreTrainedModel

from agents.config import LearnerConfig
from agents.generation import Completion
from agents.learner import Learner
from agents.learner.losses import kl_estimate, policy_loss
from agents.rollout import Rollouts

CONFIG = LearnerConfig(lr=1e-4, mini_batch=64, micro_batch=4, kl_coef=0.05)
"""One update, with a KL term that counts."""

LENGTHS = (5, 9, 2)
ADVANTAGES = torch.tensor([[1.5, -0.5, 0.0, -1.0], [0.3, 0.3, -2.0, 1.4], [-0.7, 0.1, 0.9, -0.3]])


@pytest.fixture(params=["gpt2", "llama", "qwen3"])
def setup(request: pytest.FixtureRequest, families: dict[str, PreTrainedModel]) -> tuple[PreTrainedModel, Rollouts]:
    """A model in double precision, so that Adam does not turn rounding into updates, and rollouts of its own."""
    model = deepcopy(families[request.param]).double()
    return model, sampled_rollouts(model, LENGTHS, group_size=4)


@pytest.fixture
def small() -> tuple[PreTrainedModel, Rollouts]:
    """The same with a smaller vocabulary."""
    model = family_model("gpt2", 60).double()
    return model, sampled_rollouts(model, LENGTHS, group_size=4)


def learned(
    model: PreTrainedModel, rollouts: Rollouts, advantages: Tensor = ADVANTAGES, **changes: Any
) -> tuple[PreTrainedModel, dict[str, float]]:
    """A copy of the model after one step, and the step's metrics."""
    copy = deepcopy(model)
    metrics = Learner(copy, replace(CONFIG, **changes), temperature=0.7).step(rollouts, advantages)
    return copy, metrics


def difference(a: PreTrainedModel, b: PreTrainedModel) -> float:
    return max(float((p - q).detach().abs().max()) for p, q in zip(a.parameters(), b.parameters(), strict=True))


def perturbed(model: PreTrainedModel, scale: float = 0.02) -> PreTrainedModel:
    """A copy with every weight moved a little."""
    copy, generator = deepcopy(model), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in copy.parameters():
            p.add_(scale * torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return copy


def test_tokens_get_the_advantage_of_their_own_answer(setup: tuple[PreTrainedModel, Rollouts]) -> None:
    model, rollouts = setup
    rng = Random(0)
    parts = [[[rng.randrange(3) for _ in c.token_ids] for c in group] for group in rollouts.completions]
    advantages = torch.randn(len(LENGTHS), 4, 3, generator=torch.Generator().manual_seed(0))
    # In the layout of the reference: qwen3's norm is in float32 even in a double model, and sees another rounding.
    model_after, _ = learned(model, replace(rollouts, parts=parts), advantages, share_prompts=False)
    expected = reference_step(model, model, replace(rollouts, parts=parts), advantages, CONFIG, 0.7)
    assert difference(model_after, expected) < 1e-9
    assert difference(model_after, learned(model, rollouts, advantages[..., 0])[0]) > 1e-5
    alike, _ = learned(model, replace(rollouts, parts=parts), ADVANTAGES[..., None].expand(-1, -1, 3))
    assert difference(alike, learned(model, rollouts)[0]) == 0
    with pytest.raises(ValueError, match="advantages by answer need rollouts that tell whose the tokens are"):
        learned(model, rollouts, advantages)


def test_policy_loss_on_a_grid() -> None:
    """Both signs of the advantage, ratios below, between and beyond both clips and the dual clip."""
    ratios, advantages = (0.1, 0.69, 0.71, 1.0, 1.09, 1.11, 2.9, 3.1, 20.0), (-2.0, -0.3, 0.0, 0.3, 2.0)
    cases = list(product(ratios, advantages))
    logp = torch.tensor([-1.0 + math.log(r) for r, _ in cases], dtype=torch.float64)
    advantage = torch.tensor([a for _, a in cases], dtype=torch.float64)
    loss, clipped = policy_loss(logp, torch.full_like(logp, -1.0), advantage, 0.3, 0.1, 3.0)
    for i, (ratio, a) in enumerate(cases):
        assert loss[i].item() == pytest.approx(token_loss(logp[i].item(), -1.0, a, 0.3, 0.1, 3.0), abs=1e-12)
        assert bool(clipped[i]) == ((a > 0 and ratio > 1.1) or (a < 0 and ratio < 0.7))


@pytest.mark.parametrize(
    ("ratio", "advantage", "slope"),
    [
        (1.0, 2.0, -2.0),  # inside: the policy gradient
        (1.5, 2.0, 0.0),  # good, and likely enough already
        (0.5, 2.0, -1.0),  # good, and too unlikely: never clipped
        (0.5, -2.0, 0.0),  # bad, and unlikely enough already
        (2.0, -2.0, 4.0),  # bad, and too likely
        (3.5, -2.0, 0.0),  # bad, and so likely that the dual clip holds
    ],
)
def test_gradient_of_the_policy_loss(ratio: float, advantage: float, slope: float) -> None:
    logp = torch.tensor([math.log(ratio)], requires_grad=True)
    loss, _ = policy_loss(logp, torch.zeros(1), torch.tensor([advantage]), 0.2, 0.2, 3.0)
    (gradient,) = torch.autograd.grad(loss.sum(), logp)
    assert gradient.item() == pytest.approx(slope)


def test_kl_estimate_values() -> None:
    logp, ref = torch.tensor([-1.0, -1.0, -2.0, -0.5]), torch.tensor([-1.0, -2.0, -1.0, -0.5])
    torch.testing.assert_close(kl_estimate(logp, ref), torch.tensor([0.0, math.exp(-1.0), math.e - 2, 0.0]))


def test_kl_estimate_is_never_negative() -> None:
    """Not even by rounding: policies that have hardly moved differ by less than float32 resolves around 1."""
    d = torch.cat([torch.logspace(-12, 1, 4001), torch.zeros(1)])
    d = torch.cat([d, -d])
    estimate = kl_estimate(torch.zeros_like(d), d)
    assert (estimate >= 0).all()
    exact = torch.special.expm1(d.double()) - d.double()
    torch.testing.assert_close(estimate.double(), exact, rtol=1e-3, atol=1e-9)


def test_kl_estimate_is_unbiased() -> None:
    logits = torch.randn((2, 20), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p, q = logits.log_softmax(-1)
    assert (p.exp() * kl_estimate(p, q)).sum().item() == pytest.approx((p.exp() * (p - q)).sum().item())


def test_one_step_is_the_reference_step(setup: tuple[PreTrainedModel, Rollouts]) -> None:
    model, rollouts = setup
    got, metrics = learned(model, rollouts)
    assert difference(got, reference_step(model, model, rollouts, ADVANTAGES, CONFIG, 0.7)) < 1e-6
    assert difference(got, model) > 0.5 * CONFIG.lr
    assert metrics["clip_fraction"] == 0
    assert metrics["kl"] == pytest.approx(0, abs=1e-9)


def test_later_steps_feel_the_kl_to_the_first_policy(setup: tuple[PreTrainedModel, Rollouts]) -> None:
    """The reference stays what it was when the learner was made."""
    first, rollouts = setup
    model = deepcopy(first)
    learner = Learner(model, CONFIG, temperature=0.7)
    model.load_state_dict(perturbed(first).state_dict())
    moved = deepcopy(model)
    assert learner.step(rollouts, ADVANTAGES)["kl"] > 1e-3
    assert difference(model, reference_step(moved, first, rollouts, ADVANTAGES, CONFIG, 0.7)) < 1e-6
    assert difference(model, reference_step(moved, moved, rollouts, ADVANTAGES, CONFIG, 0.7)) > 1e-5
    assert learner.reference is not None
    assert difference(learner.reference, first) == 0


def test_several_updates_share_the_old_logprobs_of_before_the_first(setup: tuple[PreTrainedModel, Rollouts]) -> None:
    model, rollouts = setup
    changes = {"mini_batch": 2, "epochs": 2, "lr": 3e-3}
    got, metrics = learned(model, rollouts, **changes)
    config = replace(CONFIG, **changes)
    # A hundred times the rounding of one update; the learning rate is thirty times larger, and there are four updates.
    assert difference(got, reference_step(model, model, rollouts, ADVANTAGES, config, 0.7)) < 1e-4
    assert metrics["clip_fraction"] > 0.05, "old log-probabilities that moved along would never be clipped"


@pytest.mark.parametrize(
    "changes",
    [
        {"micro_batch": 1},
        {"micro_batch": 100},
        {"micro_batch": 100, "micro_batch_tokens": 30},
        {"micro_batch_tokens": 1},
        {"logprob_chunk": 3},
        {"gradient_checkpointing": True},
        {"offload_reference": True},
        {"share_prompts": True},
        {"share_prompts": False},
    ],
)
@pytest.mark.parametrize("mini_batch", [64, 1])
def test_memory_options_do_not_change_the_update(
    small: tuple[PreTrainedModel, Rollouts], changes: dict[str, int], mini_batch: int
) -> None:
    model, rollouts = small
    usual, usual_metrics = learned(model, rollouts, mini_batch=mini_batch)
    other, other_metrics = learned(model, rollouts, mini_batch=mini_batch, **changes)
    assert difference(usual, other) < 1e-6
    assert other_metrics == pytest.approx(usual_metrics, abs=1e-5)


def test_metrics_are_means_over_tokens(small: tuple[PreTrainedModel, Rollouts]) -> None:
    """On the first update every ratio is 1, so a token's loss is minus the advantage of its rollout."""
    model, rollouts = small
    _, metrics = learned(model, rollouts, tis_cap=None)
    losses = [
        -float(ADVANTAGES[b, g])
        for b, group in enumerate(rollouts.completions)
        for g, completion in enumerate(group)
        for _ in completion.token_ids
    ]
    assert metrics["loss"] == pytest.approx(sum(losses) / len(losses), abs=1e-6)
    assert 0 < metrics["entropy"] < math.log(60)
    assert metrics["grad_norm"] > 0


def test_without_kl_no_reference_is_kept(small: tuple[PreTrainedModel, Rollouts]) -> None:
    model, rollouts = small
    learner = Learner(deepcopy(model), replace(CONFIG, kl_coef=0.0), temperature=0.7)
    assert learner.reference is None
    assert "kl" not in learner.step(rollouts, ADVANTAGES)


def test_zero_advantages_leave_only_weight_decay(small: tuple[PreTrainedModel, Rollouts]) -> None:
    model, rollouts = small
    after, metrics = learned(model, rollouts, torch.zeros(3, 4), kl_coef=0.0, lr=0.1, weight_decay=0.5)
    for p, q in zip(model.parameters(), after.parameters(), strict=True):
        torch.testing.assert_close(q, p * (1 - 0.1 * 0.5), rtol=1e-9, atol=0)
    assert metrics["grad_norm"] == 0


def with_logprobs_moved(rollouts: Rollouts, by: float) -> Rollouts:
    """Rollouts from an engine that reports other log-probabilities."""
    moved = [
        [Completion(c.token_ids, [lp + by for lp in c.logprobs], c.finish_reason) for c in group]
        for group in rollouts.completions
    ]
    return replace(rollouts, completions=moved)


@pytest.mark.parametrize(
    ("by", "cap", "factor"),
    [(-math.log(1.5), 2.0, 1.5), (-5.0, 2.0, 2.0), (-5.0, 1.2, 1.2), (math.log(4), 2.0, 0.25), (-5.0, None, 1.0)],
)
def test_importance_weights_between_engines_are_capped(by: float, cap: float | None, factor: float) -> None:
    """The sampling engine was `exp(-by)` times less sure of every token than the learner is."""
    model = family_model("gpt2", 60).double()
    rollouts = sampled_rollouts(model, LENGTHS, group_size=4)
    advantages = ADVANTAGES + 1  # so that the mean loss is not near zero
    copies = [deepcopy(model) for _ in range(2)]
    config = replace(CONFIG, kl_coef=0.0, tis_cap=cap)
    _, metrics = (
        Learner(copy, config, temperature=1.0).step(r, advantages)
        for copy, r in zip(copies, (rollouts, with_logprobs_moved(rollouts, by)), strict=True)
    )
    plain = Learner(copies[0], replace(config, tis_cap=None), 1.0)
    copies[0].load_state_dict(model.state_dict())
    unweighted = plain.step(rollouts, advantages)
    assert metrics["loss"] == pytest.approx(factor * unweighted["loss"], rel=1e-4)
    assert metrics["engine_ratio"] == pytest.approx(math.exp(-by), rel=1e-4)


def test_importance_weights_agree_with_the_reference_step(small: tuple[PreTrainedModel, Rollouts]) -> None:
    """Weights that differ from token to token: the rollouts come from a model that has moved since."""
    model, _ = small
    rollouts = sampled_rollouts(perturbed(model), LENGTHS, group_size=4)
    got, metrics = learned(model, rollouts, tis_cap=1.1)
    config = replace(CONFIG, tis_cap=1.1)
    assert difference(got, reference_step(model, model, rollouts, ADVANTAGES, config, 0.7)) < 1e-6
    assert abs(metrics["engine_ratio"] - 1) > 1e-3


def test_dropout_is_off_while_learning() -> None:
    """Rollouts are sampled without dropout, so the learner must differentiate the same distribution."""
    model = family_model("gpt2", 60)
    rollouts = sampled_rollouts(model, LENGTHS, group_size=4)
    wet = deepcopy(model)
    for module in wet.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3
    before = torch.get_rng_state()
    metrics = [Learner(m, replace(CONFIG, mini_batch=1), 1.0).step(rollouts, ADVANTAGES) for m in (model, wet)]
    assert metrics[0] == metrics[1]
    assert metrics[1]["engine_ratio"] == pytest.approx(1, abs=1e-4)
    assert torch.equal(torch.get_rng_state(), before), "a resumed run would draw other masks"


def test_optimizer_state_carries_over(small: tuple[PreTrainedModel, Rollouts]) -> None:
    """Two steps in one go, and two steps with the optimizer's state moved into a new learner between them."""
    model, rollouts = small
    straight, resumed = deepcopy(model), deepcopy(model)
    learner = Learner(straight, CONFIG, 0.7)
    learner.step(rollouts, ADVANTAGES)
    learner.step(rollouts, -ADVANTAGES)

    first = Learner(resumed, CONFIG, 0.7)
    first.step(rollouts, ADVANTAGES)
    second = Learner(deepcopy(model), CONFIG, 0.7)  # the reference is the first policy in both
    second.model.load_state_dict(resumed.state_dict())
    second.load_state_dict(first.state_dict())
    second.step(rollouts, -ADVANTAGES)
    assert difference(straight, second.model) == 0


def test_steps_of_the_papers_size_are_not_lost_in_mixed_precision() -> None:
    """At a learning rate of 1e-6 weights in bfloat16 would stay where they are; ours are float32 and all move."""
    model = family_model("llama", 60)
    rollouts = sampled_rollouts(model, LENGTHS, group_size=4)
    before = [p.detach().clone() for p in model.parameters()]
    config = replace(CONFIG, lr=1e-6, weight_decay=0.0)
    learner = Learner(model, config, temperature=1.0, dtype=torch.bfloat16)
    for _ in range(3):
        metrics = learner.step(rollouts, ADVANTAGES)
    moved = sum(int((p != q).sum()) for p, q in zip(model.parameters(), before, strict=True))
    large = sum(int((q.abs() > 1e-3).sum()) for q in before)
    assert moved > 0.8 * large
    assert metrics["kl"] > 0
    assert abs(metrics["engine_ratio"] - 1) < 0.1  # rollouts were sampled in float32


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral"])
def test_memory_options_do_not_change_the_gradient_in_float32(family: str) -> None:
    """The gradient, since Adam's first update would make a whole step of a rounding error where there is none."""
    gradients = []
    for changes in (
        {},
        {"micro_batch": 3},
        {"micro_batch": 100, "micro_batch_tokens": 40},
        {"gradient_checkpointing": True, "logprob_chunk": 5},
        {"share_prompts": False},
    ):
        model = family_model(family, 60)
        rollouts = sampled_rollouts(model, LENGTHS, group_size=4)
        learner = Learner(model, replace(CONFIG, grad_clip=1e9, **changes), temperature=0.7)
        norm = learner.step(rollouts, ADVANTAGES)["grad_norm"]
        gradients.append([p.grad / norm for p in model.parameters() if p.grad is not None])
    for other in gradients[1:]:
        for a, b in zip(gradients[0], other, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


@pytest.mark.parametrize("share", [False, True])
def test_gradient_checkpointing_computes_every_layer_again(share: bool) -> None:
    """Shared prompts take two passes, of the prompts and of the responses."""
    model = family_model("llama", 60)
    rollouts = sampled_rollouts(model, LENGTHS, group_size=4)
    passes: list[int] = []
    for layer in model.model.layers:
        layer.self_attn.register_forward_hook(lambda *_: passes.append(1))
    counts = []
    for on in (False, True):
        config = replace(CONFIG, kl_coef=0.0, micro_batch=100, gradient_checkpointing=on, share_prompts=share)
        learner = Learner(model, config, 1.0)
        passes.clear()
        learner.step(rollouts, ADVANTAGES)
        counts.append(len(passes))
    assert counts == ([4, 8] if share else [2, 4])
    assert not any("forward" in vars(layer) for layer in model.model.layers), "generation computes nothing twice"


def test_gradient_checkpointing_needs_layers_that_can() -> None:
    model = family_model("gpt2", 60)
    model.transformer.h = torch.nn.ModuleList()
    with pytest.raises(ValueError, match=r"--learner.gradient-checkpointing: GPT2LMHeadModel has no layers"):
        Learner(model, replace(CONFIG, gradient_checkpointing=True), 1.0)


def test_the_reference_is_on_the_device_only_while_it_is_used(small: tuple[PreTrainedModel, Rollouts]) -> None:
    """Seen by the moves alone, since the only device here is the CPU: there for each step, and away after it."""
    model, rollouts = small
    config = replace(CONFIG, offload_reference=True, share_prompts=False)
    learner = Learner(deepcopy(model), config, temperature=0.7)
    assert learner.reference is not None
    events: list[str] = []
    to = learner.reference.to
    learner.reference.to = lambda device: (events.append("move"), to(device))[1]  # type: ignore[method-assign]
    learner.reference.register_forward_hook(lambda *_: events.append("whole"))
    learner.reference.base_model.register_forward_hook(lambda *_: events.append("pass"))
    learner.step(rollouts, ADVANTAGES)
    assert events == ["move", "pass", "pass", "pass", "move"]


def test_diagnostics_of_the_importance_weights() -> None:
    """One response of an engine that was three times less sure of each token, among others that agree."""
    model = family_model("gpt2", 60)
    rollouts = sampled_rollouts(model, LENGTHS, group_size=4)
    first = rollouts.completions[0][0]
    rollouts.completions[0][0] = replace(first, logprobs=[lp - math.log(3) for lp in first.logprobs])
    share = len(first.token_ids) / rollouts.generated_tokens
    metrics = Learner(model, CONFIG, temperature=1.0).step(rollouts, ADVANTAGES)
    assert metrics["engine_ratio"] == pytest.approx(1 + 2 * share, rel=1e-4)
    assert metrics["engine_ratio_max"] == pytest.approx(3, rel=1e-4)
    assert metrics["engine_ratio_capped"] == pytest.approx(share)
    uncapped = Learner(model, replace(CONFIG, tis_cap=None), temperature=1.0).step(rollouts, ADVANTAGES)
    assert "engine_ratio_capped" not in uncapped
