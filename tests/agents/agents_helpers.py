"""Tiny models, prompts and the slow references that several tests of the agent compare with."""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen3Config,
)

from agents.generation import Completion, Sampling, TransformersGenerator
from agents.rollout import Rollouts
from agents.schedule import seeds_of

ModelT = TypeVar("ModelT", bound=PreTrainedModel)

CONTEXT = 512
FAMILIES = ("gpt2", "llama", "qwen3", "mistral")
"""Absolute positions and tied embeddings; rotary and untied; rotary, normed heads and tied; a window of six tokens."""


def family_model(name: str, vocab_size: int, *, tied: bool | None = None) -> PreTrainedModel:
    """A randomly initialised model of 2 layers and width 32, the same at every call."""
    common = {
        "vocab_size": vocab_size,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "bos_token_id": 1,
        "eos_token_id": 1,
        "pad_token_id": 0,
    }
    plain = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "bos_token_id": 1, "eos_token_id": 1}
    tie = {} if tied is None else {"tie_word_embeddings": tied}
    makers: dict[str, PreTrainedConfig] = {
        "gpt2": GPT2Config(vocab_size=vocab_size, n_positions=CONTEXT, n_embd=32, n_layer=2, n_head=4, **plain, **tie),
        "llama": LlamaConfig(**common, **({"tie_word_embeddings": False} | tie)),
        "qwen3": Qwen3Config(**common, head_dim=8, **({"tie_word_embeddings": True} | tie)),
        "mistral": MistralConfig(**common, sliding_window=6, **tie),
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return sharpen(AutoModelForCausalLM.from_config(makers[name])).eval()


@torch.no_grad()
def sharpen(model: ModelT) -> ModelT:
    """Scale the matrices up, so that an untrained model has opinions that depend on the context."""
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.mul_(8)
    return model


def random_prompts(vocab_size: int, lengths: Sequence[int] = (5, 23, 1, 11), seed: int = 0) -> list[list[int]]:
    """Prompts of these lengths, of tokens that are neither padding nor an end."""
    rng = Random(seed)
    return [[rng.randrange(5, vocab_size) for _ in range(length)] for length in lengths]


def sample(
    model: PreTrainedModel, prompts: list[list[int]], n: int, sampling: Sampling, seed: int = 0, rows: int = 512
) -> list[list[Completion]]:
    """Completions that end at any of a tenth of the vocabulary, so that their lengths vary."""
    generator = TransformersGenerator(model, end_ids(model), pad_id=0, rows=rows)
    return generator.generate(prompts, n, sampling, seeds_of([seed], len(prompts)))


def end_ids(model: PreTrainedModel) -> range:
    return range(5, 5 + model.config.vocab_size // 10)


def sampled_rollouts(model: PreTrainedModel, lengths: Sequence[int], group_size: int, max_tokens: int = 8) -> Rollouts:
    """What the learner sees: groups of sampled completions (their rewards do not matter to it)."""
    prompts = random_prompts(model.config.vocab_size, lengths)
    completions = sample(model, prompts, group_size, Sampling(max_tokens))
    shape = (len(prompts), group_size, 1)
    return Rollouts(prompts, completions, [], torch.zeros(*shape, 1), torch.ones(shape, dtype=torch.bool), None)


def full_logits(model: PreTrainedModel, prompt: Sequence[int], response: Sequence[int]) -> Tensor:
    """(len(response), v): one row without padding, one forward pass without a cache, every logit kept."""
    ids = torch.tensor([[*prompt, *response]])
    return model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1]


def reference_distribution(logits: Sequence[float], temperature: float, top_p: float) -> list[float]:
    """The sampling distribution over tokens, spelled out. Temperature 0 stands for the distribution at 1."""
    temperature = temperature or 1.0
    top = max(logits)
    weights = [math.exp((x - top) / temperature) for x in logits]
    p = [w / sum(weights) for w in weights]
    kept: list[int] = []
    for token in sorted(range(len(p)), key=lambda i: -p[i]):
        kept.append(token)
        if sum(p[i] for i in kept) >= top_p:
            break
    mass = sum(p[i] for i in kept)
    inside = set(kept)
    return [p[i] / mass if i in inside else 0.0 for i in range(len(p))]


def two_processes(script: str, *arguments: str, timeout: float = 300) -> str:
    """Run a script of this folder in two processes that a launcher would have started; returns what they printed.

    Raises AssertionError if one of them fails; the other one, which may wait for it, is ended.
    """
    folder = Path(__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {**os.environ, "PYTHONPATH": str(folder.parents[1]), "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1"}
    common |= {"MASTER_PORT": str(port), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    deadline = time.monotonic() + timeout
    with tempfile.TemporaryFile("w+") as output:
        running = [
            subprocess.Popen(
                [sys.executable, str(folder / script), *arguments],
                env={**common, "RANK": rank, "LOCAL_RANK": rank},
                stdout=output,
                stderr=output,
            )
            for rank in ("0", "1")
        ]
        codes: list[int | None] = [None, None]
        while None in codes and not any(codes) and time.monotonic() < deadline:
            time.sleep(0.1)
            codes = [process.poll() for process in running]
        for process in running:
            process.kill()
            process.wait()
        output.seek(0)
        printed = output.read()
    assert codes == [0, 0], printed
    return printed
