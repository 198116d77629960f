"""Log-probabilities of response tokens: the same numbers as with all logits, without all logits."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from agents_helpers import family_model, full_logits, random_prompts, sample
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, Gemma2Config, PreTrainedModel

from agents.generation import Completion, Sampling
from agents.learner.logprobs import Sequences, check_head, pad_sequences, response_logprobs

ALL = 10**9


def batch(model: PreTrainedModel, max_tokens: int = 12) -> tuple[list[list[int]], list[Completion], Sequences]:
    prompts = random_prompts(model.config.vocab_size, (5, 23, 1, 11))
    completions = [group[0] for group in sample(model, prompts, 1, Sampling(max_tokens), seed=3)]
    return prompts, completions, pad_sequences(prompts, completions, torch.device("cpu"))


def reference_logprobs(
    model: PreTrainedModel, prompts: list[list[int]], completions: list[Completion], temperature: float
) -> tuple[Tensor, list[float]]:
    """Log-probabilities (tokens,) with their graph, and entropies, from all logits of one row after the other."""
    logprobs, entropies = [], []
    for prompt, completion in zip(prompts, completions, strict=True):
        rows = (full_logits(model, prompt, completion.token_ids) / temperature).log_softmax(-1)
        for row, token in zip(rows, completion.token_ids, strict=True):
            logprobs.append(row[token])
            entropies.append(-sum(math.exp(lp) * lp for lp in row.tolist()))
    return torch.stack(logprobs), entropies


def test_sequences_lay_prompts_and_responses_side_by_side() -> None:
    completions = [Completion([7, 8], [0.0, 0.0], "stop"), Completion([9], [0.0], "stop")]
    sequences = pad_sequences([[3, 4, 5], [6]], completions, torch.device("cpu"))
    assert sequences.ids.tolist() == [[3, 4, 5, 7, 8], [6, 9, 6, 6, 6]]
    assert sequences.response.tolist() == [[False, False, True, True], [True, False, False, False]]
    assert sequences.targets.tolist() == [7, 8, 9]


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_and_entropies_are_those_of_the_whole_model(model: PreTrainedModel, temperature: float) -> None:
    prompts, completions, sequences = batch(model)
    with torch.no_grad():
        expected, expected_entropies = reference_logprobs(model, prompts, completions, temperature)
        logprobs, entropies = response_logprobs(model, sequences, temperature, chunk=7)
    torch.testing.assert_close(logprobs, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(entropies, torch.tensor(expected_entropies), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 7, ALL])
def test_value_and_gradient_do_not_depend_on_the_chunk(model: PreTrainedModel, chunk: int) -> None:
    prompts, completions, sequences = batch(model)
    parameters = list(model.parameters())
    expected, _ = reference_logprobs(model, prompts, completions, 0.7)
    logprobs, entropies = response_logprobs(model, sequences, 0.7, chunk)
    assert logprobs.dtype == torch.float32
    assert not entropies.requires_grad
    weights = torch.linspace(-1, 2, len(expected))  # an uneven loss, so that no two tokens can be swapped
    wanted = torch.autograd.grad((expected * weights).sum(), parameters)
    got = torch.autograd.grad((logprobs * weights).sum(), parameters)
    torch.testing.assert_close(logprobs, expected, rtol=0, atol=1e-5)
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


class LargestLogits(TorchDispatchMode):
    """Watches every tensor operation and keeps the size of the largest result with one column per token."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.vocab_size, self.elements = vocab_size, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, Tensor) and tensor.shape[-1:] == (self.vocab_size,):
                self.elements = max(self.elements, tensor.numel())
        return out


def test_no_more_than_a_chunk_of_logits_exists_at_a_time(model: PreTrainedModel) -> None:
    chunk = 40  # above the model's width of 32: the head's own transposed weight has that many rows
    vocab_size = model.config.vocab_size
    prompts = random_prompts(vocab_size, (4, 9, 2, 7) * 5)
    completions = [Completion(random_prompts(vocab_size, (12,), seed=i)[0], [], "length") for i in range(20)]
    sequences = pad_sequences(prompts, completions, torch.device("cpu"))
    from_head: list[int] = []

    def record(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        from_head.append(output.numel())

    handle = model.get_output_embeddings().register_forward_hook(record)
    try:
        with LargestLogits(vocab_size) as watch:
            logprobs, _ = response_logprobs(model, sequences, 1.0, chunk)
            forward = len(from_head)
            torch.autograd.grad(logprobs.sum(), list(model.parameters()))
    finally:
        handle.remove()
    assert len(logprobs) == 240
    assert forward == 6
    assert len(from_head) == 12, "the backward pass computes every chunk once more"
    assert max(from_head) == chunk * vocab_size
    assert watch.elements == chunk * vocab_size


def test_head_check_accepts_plain_heads(model: PreTrainedModel) -> None:
    check_head(model)
    check_head(family_model("llama", 100, tied=True))


@pytest.mark.parametrize("cap", [30.0, None])
def test_head_check_refuses_a_capped_head(cap: float | None) -> None:
    """Gemma 2 bends its logits with tanh. Small logits pass through almost unchanged, but training makes them grow."""
    config = Gemma2Config(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        final_logit_softcapping=cap,
    )
    model = AutoModelForCausalLM.from_config(config)
    if cap is None:
        check_head(model)
        return
    with pytest.raises(ValueError, match="Gemma2ForCausalLM transforms its logits"):
        check_head(model)
