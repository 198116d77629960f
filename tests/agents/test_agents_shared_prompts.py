"""Prompts that are computed once for their responses: the same numbers, gradients and updates from fewer tokens."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from agents_helpers import CONTEXT, family_model, random_prompts, sampled_rollouts
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, BloomConfig, LlamaConfig, PreTrainedModel

from agents.config import LearnerConfig, LoraConfig
from agents.faults import Fault
from agents.generation import Completion
from agents.learner import Learner
from agents.learner.logprobs import Layout, pad_sequences, response_logprobs
from agents.learner.micro_batches import Limits, computed_tokens, cut, micro_batches
from agents.learner.recompute import recomputing
from agents.learner.shared_prompts import share_prompts, why_not_shared
from agents.lora import add_adapter
from agents.precision import computing_in
from agents.rollout import Rollouts

EXACT = ("gpt2", "llama", "qwen3")
CPU = torch.device("cpu")
CONFIG = LearnerConfig(lr=1e-4, mini_batch=2, micro_batch=5, kl_coef=0.05)
"""Two updates, and micro-batches that cut a group of eight."""

LENGTHS = (5, 23, 11)
ADVANTAGES = torch.linspace(-2, 1.5, 24).reshape(8, 3).T.contiguous()


def example(prompt_lengths: tuple[int, ...], longest: int) -> tuple[Layout, Layout]:
    """Both layouts of six responses, of 1 to `longest` tokens, to one or three prompts."""
    rng = Random(0)
    prompts = random_prompts(60, prompt_lengths)
    counts = {1: [6], 3: [3, 1, 2]}[len(prompts)]
    lengths = [longest, *(rng.randint(1, longest) for _ in range(5))]
    completions = [Completion([rng.randrange(5, 60) for _ in range(n)], [0.0] * n, "stop") for n in lengths]
    repeated = [prompt for prompt, n in zip(prompts, counts, strict=True) for _ in range(n)]
    return pad_sequences(repeated, completions, CPU), share_prompts(prompts, counts, completions, CPU)


def double(family: str) -> PreTrainedModel:
    """A model in double precision throughout: transformers computes RMS norms in float32, whatever comes in."""
    model = family_model(family, 60).double()
    for parent in list(model.modules()):
        for name, norm in parent.named_children():
            if type(norm).__name__.endswith("RMSNorm"):
                exact = nn.RMSNorm(norm.weight.shape, norm.variance_epsilon, dtype=torch.float64)
                exact.load_state_dict(norm.state_dict())
                setattr(parent, name, exact)
    return model


def outcome(model: PreTrainedModel, layout: Layout, chunk: int = 1024) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities, entropies, and the gradient of an uneven loss."""
    logprobs, entropies = response_logprobs(model, layout, 0.7, chunk)
    loss = (logprobs * torch.linspace(-1, 2, len(logprobs))).sum()
    parameters = [p for p in model.parameters() if p.requires_grad]
    return logprobs.detach(), entropies, torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)])


def far(a: Tensor, b: Tensor) -> float:
    """Norm of the difference over the norm."""
    return float(((a - b).norm() / b.norm()).detach())


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize("prompt_lengths", [(9, 9, 9), (5, 23, 1), (7,)])
@pytest.mark.parametrize("longest", [9, 1])
@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
def test_log_probabilities_entropies_and_gradients(
    family: str, prompt_lengths: tuple[int, ...], longest: int, kernel: str
) -> None:
    plain, shared = example(prompt_lengths, longest)
    assert torch.equal(plain.targets, shared.targets)
    # The eager kernel computes its softmax in float32.
    for model, tolerance in ((family_model(family, 60), 1e-6), (double(family), 1e-9 if kernel == "sdpa" else 1e-6)):
        model.set_attn_implementation(kernel)
        for got, expected in zip(outcome(model, shared), outcome(model, plain), strict=True):
            assert far(got, expected) < tolerance


@pytest.mark.parametrize("family", EXACT)
def test_a_layer_that_is_computed_again_leaves_the_prompts_keys_as_they_are(family: str) -> None:
    plain, shared = example(LENGTHS, 9)
    model = double(family)
    with recomputing(model):
        got = outcome(model, shared, chunk=5)
    for a, b in zip(got, outcome(model, plain), strict=True):
        assert far(a, b) < 1e-9


@pytest.mark.parametrize("weights", [torch.float32, torch.bfloat16])
def test_bfloat16_differs_by_its_rounding(weights: torch.dtype) -> None:
    """Either layout is about as far from float32 as the other."""
    plain, shared = example(LENGTHS, 9)
    model = family_model("llama", 60).to(torch.bfloat16)
    exact = outcome(deepcopy(model).float(), plain)[2]
    model = model.to(weights)
    with computing_in(torch.bfloat16, CPU):
        errors = [far(outcome(model, layout)[2].float(), exact) for layout in (plain, shared)]
    assert 0 < errors[1] < 1.5 * errors[0]


def test_padding_stays_inside_the_context() -> None:
    """A long prompt with a short response beside a short prompt with a long one: together they would be too long."""
    model = family_model("gpt2", 60)
    prompts = random_prompts(60, (CONTEXT - 2, 4))
    completions = [Completion([7, 8], [], "stop"), Completion([9] * 20, [], "stop")]
    plain = pad_sequences(prompts, completions, CPU)
    shared = share_prompts(prompts, [1, 1], completions, CPU)
    assert far(response_logprobs(model, shared, 1.0, 99)[0], response_logprobs(model, plain, 1.0, 99)[0]) < 1e-5


# ---- which rollouts share a pass ------------------------------------------------------------------------------------


def lengths_only(groups: list[tuple[int, list[int]]]) -> Rollouts:
    """Rollouts given by the tokens of each prompt and of its responses."""
    none = torch.zeros(0)
    prompts = [[7] * p for p, _ in groups]
    return Rollouts(
        prompts, [[Completion([7] * n, [0.0] * n, "stop") for n in r] for _, r in groups], [], none, none, None
    )


@pytest.mark.parametrize("limits", [Limits(1), Limits(5), Limits(9), Limits(99), Limits(99, 120), Limits(99, 1)])
def test_every_rollout_is_in_one_pass_within_the_limits(limits: Limits) -> None:
    rng = Random(1)
    data = lengths_only([(rng.randint(1, 30), [rng.randint(1, 30) for _ in range(6)]) for _ in range(9)])
    parts = list(cut(data, range(2, 8), limits, shared=True))
    assert sorted(bg for part in parts for bg in part) == [(b, g) for b in range(2, 8) for g in range(6)]
    for part, micro in zip(parts, micro_batches(data, range(2, 8), limits, CPU, shared=True), strict=True):
        assert micro.where == part
        assert micro.completions == [data.completions[b][g] for b, g in part]
        assert len(part) <= limits.rollouts
        assert limits.tokens is None or computed_tokens(data, part, shared=True) <= limits.tokens or len(part) == 1


def test_the_tokens_of_a_pass_are_those_that_the_model_computes() -> None:
    model = family_model("llama", 60)
    data = sampled_rollouts(model, LENGTHS, group_size=4)
    seen: list[int] = []
    model.model.embed_tokens.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0].numel()))
    for shared in (False, True):
        for micro in micro_batches(data, range(3), Limits(8), CPU, shared):
            seen.clear()
            micro.sequences.states(model)
            assert sum(seen) == computed_tokens(data, micro.where, shared)


def test_groups_stay_together_where_they_fit() -> None:
    data = lengths_only([(10, [5, 5, 5]), (10, [9, 2, 2]), (10, [3, 3, 3])])
    assert list(cut(data, range(3), Limits(5), shared=True)) == [
        [(1, 0), (1, 1), (1, 2)],
        [(0, 0), (0, 1), (0, 2)],
        [(2, 0), (2, 1), (2, 2)],
    ]
    assert [len(part) for part in cut(data, range(3), Limits(6), shared=True)] == [6, 3]
    assert [len(part) for part in cut(data, range(3), Limits(2), shared=True)] == [2, 1, 2, 1, 2, 1]


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize("prompt", [4, 100])
def test_a_limit_of_tokens_is_a_limit_of_memory(family: str, prompt: int) -> None:
    """What the backward pass keeps of a pass is no more than for as many tokens without sharing."""
    model = family_model(family, 60)
    data = lengths_only([(prompt, [20] * 12)] * 6)
    limits = Limits(999, 12 * (prompt + 20))
    (plain, shared) = (next(micro_batches(data, range(6), limits, CPU, how)) for how in (False, True))
    assert len(plain.where) == 12
    assert len(shared.where) >= 12
    assert kept_bytes(model, shared.sequences) < 1.05 * kept_bytes(model, plain.sequences)


def kept_bytes(model: PreTrainedModel, layout: Layout) -> int:
    """Memory that autograd keeps of a forward pass, the weights themselves not counted."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        layout.states(model)
    return sum(t.untyped_storage().nbytes() for pointer, t in kept.items() if pointer not in weights)


# ---- the learner ----------------------------------------------------------------------------------------------------


def learned(model: PreTrainedModel, rollouts: Rollouts, **changes: Any) -> tuple[PreTrainedModel, dict[str, float]]:
    copy = deepcopy(model)
    metrics = Learner(copy, replace(CONFIG, **changes), temperature=0.7).step(rollouts, ADVANTAGES[: len(LENGTHS)])
    return copy, metrics


def difference(a: PreTrainedModel, b: PreTrainedModel) -> float:
    return max(float((p - q).detach().abs().max()) for p, q in zip(a.parameters(), b.parameters(), strict=True))


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"micro_batch": 24},
        {"micro_batch": 1},
        {"micro_batch": 24, "micro_batch_tokens": 60},
        {"gradient_checkpointing": True, "logprob_chunk": 5},
        {"epochs": 2},
        {"offload_reference": True},
        {"kl_coef": 0.0, "tis_cap": None},
    ],
)
def test_the_update_is_the_same(family: str, changes: dict[str, Any]) -> None:
    """In double precision, so that Adam does not turn rounding into updates."""
    model = double(family)
    rollouts = sampled_rollouts(model, LENGTHS, group_size=8)
    plain, metrics = learned(model, rollouts, share_prompts=False, **changes)
    shared, shared_metrics = learned(model, rollouts, share_prompts=True, **changes)
    assert difference(plain, shared) < 1e-9
    assert difference(plain, model) > 0.5 * CONFIG.lr
    assert shared_metrics == pytest.approx(metrics, abs=1e-9)


def test_one_group() -> None:
    model = double("llama")
    rollouts = sampled_rollouts(model, (9,), group_size=8)
    updated = []
    for share in (False, True):
        copy = deepcopy(model)
        Learner(copy, replace(CONFIG, share_prompts=share), temperature=0.7).step(rollouts, ADVANTAGES[:1])
        updated.append(copy)
    assert difference(*updated) < 1e-9


@pytest.mark.parametrize("checkpointing", [False, True])
def test_an_adapter_and_its_base(checkpointing: bool) -> None:
    """The reference is the model without its adapter, which computes its prompts once, too."""
    model = double("qwen3")
    add_adapter(model, LoraConfig(rank=4), seed=0, base="base")
    with torch.no_grad():
        for name, p in model.named_parameters():
            if ".lora_B." in name:
                p.normal_(std=0.02, generator=torch.Generator().manual_seed(1))
    rollouts = sampled_rollouts(model, LENGTHS, group_size=8)
    plain, metrics = learned(model, rollouts, share_prompts=False)
    shared, shared_metrics = learned(model, rollouts, share_prompts=True, gradient_checkpointing=checkpointing)
    assert metrics["kl"] > 1e-4
    assert shared_metrics == pytest.approx(metrics, abs=1e-9)
    assert difference(plain, shared) < 1e-9


def test_out_of_memory_halves_the_passes_of_shared_prompts(capsys: pytest.CaptureFixture[str]) -> None:
    model = double("llama")
    rollouts = sampled_rollouts(model, LENGTHS, group_size=8)
    plain, _ = learned(model, rollouts, share_prompts=False)
    copy = deepcopy(model)
    learner = Learner(copy, replace(CONFIG, share_prompts=True, micro_batch=8), temperature=0.7)
    rows: list[int] = []

    def fail_once(module: Any, inputs: Any, output: Tensor) -> None:
        if torch.is_grad_enabled():
            rows.append(len(output))
            if len(rows) == 4:
                raise torch.OutOfMemoryError("CUDA out of memory")

    copy.model.layers[1].mlp.register_forward_hook(fail_once)
    learner.step(rollouts, ADVANTAGES)
    assert difference(plain, copy) < 1e-9
    assert rows == [1, 8, 1, 8, *[1, 4] * 6], "one prompt and its responses at a time"
    assert "going on with micro-batches of at most 4 rollouts" in capsys.readouterr().err
    rows.clear()
    learner.config.micro_batch = 8
    with pytest.raises(Fault, match="out of memory again"):
        learner.step(rollouts, ADVANTAGES)


# ---- where it is done -----------------------------------------------------------------------------------------------


def rows_of_passes(model: PreTrainedModel, rollouts: Rollouts, **changes: Any) -> list[int]:
    """Rows of every pass of the policy through its body in one step without a reference."""
    rows: list[int] = []
    config = replace(CONFIG, mini_batch=64, micro_batch=24, kl_coef=0.0, **changes)
    learner = Learner(model, config, temperature=0.7)
    model.base_model.register_forward_hook(lambda module, inputs, output: rows.append(len(output[0])))
    learner.step(rollouts, ADVANTAGES)
    return rows


def test_by_default_prompts_are_shared_where_that_saves_tokens() -> None:
    model = family_model("llama", 60)
    long = sampled_rollouts(model, (40, 50, 45), group_size=8)
    short = sampled_rollouts(model, (1, 1, 1), group_size=8, max_tokens=40)
    assert rows_of_passes(deepcopy(model), long) == [3, 24]
    assert rows_of_passes(deepcopy(model), short) == [24]
    assert rows_of_passes(deepcopy(model), long, share_prompts=False) == [24]
    assert rows_of_passes(deepcopy(model), short, share_prompts=True) == [3, 24]


def stretched() -> PreTrainedModel:
    """Rotary positions that are stretched in passes longer than the context."""
    rope = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
    config = LlamaConfig(
        vocab_size=60, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
        rope_parameters=rope,
    )  # fmt: skip
    return AutoModelForCausalLM.from_config(config).eval()


def slanted() -> PreTrainedModel:
    """Biases by distance (ALiBi), which are worked out from another mask than ours."""
    return AutoModelForCausalLM.from_config(BloomConfig(vocab_size=60, hidden_size=32, n_layer=2, n_head=4)).eval()


def foreign_kernel() -> PreTrainedModel:
    model = family_model("llama", 60)
    model.config._attn_implementation = "flash_attention_2"
    return model


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: family_model("mistral", 60), "has layers with a sliding window"),
        (stretched, "positions of LlamaForCausalLM depend on the longest sequence"),
        (slanted, "BloomForCausalLM gives other states"),
        (foreign_kernel, "the attention kernel flash_attention_2 takes no mask"),
    ],
)
def test_models_whose_prompts_cannot_be_shared(make: Callable[[], PreTrainedModel], why: str) -> None:
    assert why in str(why_not_shared(make()))


def test_a_model_that_cannot_is_refused_when_asked_and_learns_plainly_by_default() -> None:
    model = family_model("mistral", 60)
    with pytest.raises(ValueError, match=r"--learner.share-prompts: MistralForCausalLM has layers with a sliding"):
        Learner(model, replace(CONFIG, share_prompts=True), temperature=0.7)
    assert rows_of_passes(model, sampled_rollouts(model, (40, 50, 45), group_size=8)) == [24]


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_models_whose_prompts_can_be_shared(family: str, dtype: torch.dtype) -> None:
    assert why_not_shared(family_model(family, 60).to(dtype)) is None
