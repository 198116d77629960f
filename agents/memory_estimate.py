"""How much memory training needs, item by item with its arithmetic. In one process; allocators take some more.

Activations are what the backward pass keeps, per token and layer: exact for Llama, Qwen2 and Qwen3 in transformers with
the attention kernel sdpa (a test measures them), an approximation for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agents.config import TrainConfig
from agents.model_facts import ModelSize

Phase = Literal["always", "generation", "learning"]
GIB = 2**30
CPU_CACHE_GIB, CUDA_SHARE = 1.0, 0.5  # the defaults of `EngineConfig`


@dataclass(frozen=True)
class Item:
    """One part of the memory."""

    name: str
    phase: Phase
    bytes: float
    how: str
    """The arithmetic."""


@dataclass(frozen=True)
class Setting:
    """Where training would run, which the configuration leaves open."""

    low_precision: bool
    """bfloat16 is computed in, not float32."""
    vllm: bool
    cuda: bool


def memory_items(config: TrainConfig, size: ModelSize, setting: Setting) -> list[Item]:
    """Everything that takes memory, in bytes."""
    return [*_state(config, size), *_generation(config, size, setting), *_learning(config, size, setting)]


def peak(items: Sequence[Item]) -> float:
    """Bytes at the worst moment: what is always there, and the larger of generation and learning."""
    total = {phase: sum(item.bytes for item in items if item.phase == phase) for phase in get_args(Phase)}
    return total["always"] + max(total["generation"], total["learning"])


def activation_bytes(size: ModelSize, low_precision: bool, low_weights: bool) -> int:
    """Bytes per token and layer that the backward pass needs.

    Feed-forward block: gate, up, activation, product. Attention: queries, output, keys, values. Both norms: their
    input, what they normalised, and their output. Statistics of the norms and of the softmax are float32.
    """
    number = 2 if low_precision else 4
    norms = 16 if low_weights else 26 if low_precision else 24  # bfloat16 weights; float32 ones with casts; float32
    per_head = (6 if low_precision else 8) * (size.queries + size.keys) if size.normed_heads else 0
    statistics = 4 * size.heads + 8 + (4 * (size.heads + size.heads * size.keys // size.queries) if per_head else 0)
    return norms * size.width + number * (4 * size.inner + 2 * size.queries + 2 * size.keys) + per_head + statistics


def _state(config: TrainConfig, size: ModelSize) -> list[Item]:
    weight = 2 if config.learner.param_dtype == "bfloat16" else 4
    p, trained = f"{size.parameters:,}", f"{size.trained:,}"
    items = [Item("weights", "always", weight * size.parameters, f"{p} x {weight} bytes")]
    if config.lora.rank:
        items.append(Item("adapter", "always", 4 * size.trained, f"{trained} x 4 bytes"))
    elif weight == 2:
        items.append(Item("float32 master weights", "always", 4 * size.trained, f"{trained} x 4 bytes"))
    items.append(Item("optimizer", "always", 8 * size.trained, f"{trained} x 2 moments x 4 bytes"))
    if config.learner.kl_coef > 0 and not config.lora.rank:
        if config.learner.offload_reference:
            items.append(Item("reference", "learning", weight * size.parameters, f"{p} x {weight} bytes, when used"))
        else:
            items.append(Item("reference", "always", weight * size.parameters, f"{p} x {weight} bytes"))
    return items


def _generation(config: TrainConfig, size: ModelSize, setting: Setting) -> list[Item]:
    number = 2 if setting.low_precision else 4
    per_token = 2 * size.layers * size.keys * number
    if setting.vllm:
        return _engine(config, size, setting, number, per_token)
    rows = min(config.sampling.rows, config.prompts * config.answers_per_prompt // (config.num_answers or 1))
    context = config.prompt_tokens + config.sampling.max_tokens
    return [
        *_casts(config, size, setting, "generation"),
        Item(
            "key-value cache",
            "generation",
            rows * context * per_token,
            f"{rows} responses x {context} tokens x {size.layers} layers x 2 x {size.keys} x {number} bytes",
        ),
        Item(
            "logits",
            "generation",
            rows * size.vocabulary * 24,
            f"{rows} responses x {size.vocabulary} words x 24 bytes (two float32, two float64)",
        ),
    ]


def _engine(config: TrainConfig, size: ModelSize, setting: Setting, number: int, per_token: int) -> list[Item]:
    """vLLM takes what it is given and fills it with cache; it gives it back while the learner works where it can."""
    engine = config.engine
    sleeps = setting.cuda and engine.sleep is not False
    phase: Phase = "generation" if sleeps else "always"
    items = [
        Item("engine's weights", phase, number * size.parameters, f"{size.parameters:,} x {number} bytes"),
    ]
    if engine.cache_gib is not None or not setting.cuda:
        gib = CPU_CACHE_GIB if engine.cache_gib is None else engine.cache_gib
        tokens = gib * GIB / per_token
        items.append(
            Item("engine's cache", phase, gib * GIB, f"{gib:g} GiB, {tokens:,.0f} tokens of {per_token} bytes")
        )
    else:
        share = CUDA_SHARE if engine.memory_share is None else engine.memory_share
        context = config.prompt_tokens + config.sampling.max_tokens
        how = f"at least one response of {context} tokens x {per_token} bytes; takes up to {share:.0%} of the device"
        items.append(Item("engine's cache", phase, context * per_token, how))
    return items


def _learning(config: TrainConfig, size: ModelSize, setting: Setting) -> list[Item]:
    learner = config.learner
    low_weights = learner.param_dtype == "bfloat16" and not config.lora.rank
    gradient = 6 if low_weights else 4
    how = " (float32 sums, and bfloat16 ones of a pass)" if low_weights else ""
    longest = config.prompt_tokens + config.sampling.max_tokens
    rows = learner.micro_batch
    if learner.micro_batch_tokens is not None:
        rows = max(1, min(rows, learner.micro_batch_tokens // longest))
    tokens = rows * longest
    per_layer = activation_bytes(size, setting.low_precision, learner.param_dtype == "bfloat16")
    pass_ = f"{rows} rollouts x {longest} tokens"
    if learner.gradient_checkpointing:
        kept = size.width * (2 if learner.param_dtype == "bfloat16" else 4)
        activations = tokens * (size.layers * kept + per_layer)
        formula = f"{pass_} x ({size.layers} layers x {kept} + {per_layer} bytes)"
    else:
        activations = tokens * size.layers * per_layer
        formula = f"{pass_} x {size.layers} layers x {per_layer} bytes"
    chunk = min(learner.logprob_chunk, rows * config.sampling.max_tokens)
    return [
        *_casts(config, size, setting, "learning"),
        Item("gradients", "learning", gradient * size.trained, f"{size.trained:,} x {gradient} bytes{how}"),
        Item("activations", "learning", activations, formula),
        Item(
            "logits of a chunk",
            "learning",
            3 * chunk * size.vocabulary * 4,
            f"3 x {chunk} tokens x {size.vocabulary} words x 4 bytes",
        ),
    ]


def _casts(config: TrainConfig, size: ModelSize, setting: Setting, phase: Phase) -> list[Item]:
    """Float32 weights that compute in bfloat16 are cast, and the casts live as long as the pass."""
    if not setting.low_precision or config.learner.param_dtype == "bfloat16":
        return []
    return [Item("bfloat16 casts", phase, 2 * size.matrices, f"{size.matrices:,} weights of matrices x 2 bytes")]
