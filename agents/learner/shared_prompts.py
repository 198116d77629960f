"""A group's responses with their prompt computed once: p + G r tokens in place of G (p + r).

The model runs twice, on the prompts and on the responses, which attend to their prompt's keys and values as they do in
generation. Gradients flow back through these, so the log-probabilities and their gradients are those of the plain
layout (`agents.learner.logprobs.Sequences`), rounding aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from agents.generation import Completion
from agents.learner.logprobs import pad_sequences

KERNELS = ("eager", "sdpa")
"""Those that take a mask of queries and keys, which the responses' pass needs."""


@dataclass(frozen=True)
class SharedPrompts:
    """n responses to u prompts, both padded on the right."""

    prompts: Tensor
    """(u, p) token ids."""
    prompt_lengths: Tensor
    """(u,)."""
    counts: tuple[int, ...]
    """(u,) how many responses each prompt has; they come prompt by prompt."""
    rows: Tensor
    """(n,) the prompt that each response answers."""
    responses: Tensor
    """(n, r) token ids; r is at least 2, so that the model runs twice in every pass: sharded processes must agree."""
    real: Tensor
    """(n, r) bool: not padding."""
    padded: bool
    """Whether prompts differ in length."""

    @property
    def targets(self) -> Tensor:
        """(tokens,) the response tokens, row by row."""
        return self.responses[self.real]

    def states(self, model: PreTrainedModel) -> Tensor:
        """(tokens, d) the hidden states that predict the targets."""
        kept = Cache(layer_class_to_replicate=PromptLayer)
        hidden = model.base_model(input_ids=self.prompts, past_key_values=kept, use_cache=True).last_hidden_state
        ends = hidden[torch.arange(len(hidden), device=hidden.device), self.prompt_lengths - 1]  # (u, d)
        rest = model.base_model(
            input_ids=self.responses[:, :-1],
            attention_mask=self._mask(_computed_dtype(model)),
            position_ids=self._positions(),
            past_key_values=Cache(layers=[RepeatedLayer(layer, self.counts) for layer in kept.layers]),
            use_cache=True,
        ).last_hidden_state  # (n, r - 1, d)
        return torch.cat([ends[self.rows, None], rest], 1)[self.real]

    def _positions(self) -> Tensor:
        """(n, r - 1). Padding repeats its row's last position: the next ones may be beyond the model's context."""
        ahead = torch.arange(self.responses.shape[1] - 1, device=self.rows.device)
        own = (self.real.sum(1) - 1).clamp(min=0)
        return self.prompt_lengths[self.rows, None] + ahead.minimum(own[:, None])

    def _mask(self, dtype: torch.dtype) -> Tensor:
        """What is added to the scores of responses' tokens over prompt and response: 0 or -inf.

        (n, 1, r - 1, p + r - 1); one for all rows, (1, 1, ...), if no prompt is padded.
        """
        width, device = self.responses.shape[1] - 1, self.rows.device
        lengths = self.prompt_lengths[self.rows] if self.padded else self.prompt_lengths[:1]
        prompt = torch.arange(self.prompts.shape[1], device=device) < lengths[:, None]  # (n or 1, p)
        own = torch.ones((width, width), dtype=torch.bool, device=device).tril()
        seen = torch.cat([prompt[:, None].expand(-1, width, -1), own.expand(len(prompt), -1, -1)], 2)
        return torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill_(~seen, -torch.inf)[:, None]


class PromptLayer(DynamicLayer):
    """Keeps a layer's keys and values of the prompts, with their graph.

    Gradient checkpointing calls the layer once more in the backward pass, which must leave what was kept as it is.
    """

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.keys, self.values, self.is_initialized = key_states, value_states, True
        return key_states, value_states


class RepeatedLayer(DynamicLayer):
    """Puts the prompts' keys and values before those of each response; changes nothing, so that calls may repeat."""

    def __init__(self, prompts: Any, counts: tuple[int, ...]) -> None:
        super().__init__()
        self.keys: Tensor = prompts.keys
        self.values: Tensor = prompts.values
        self.is_initialized, self.counts = True, counts

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        return self._behind(self.keys, key_states), self._behind(self.values, value_states)

    def _behind(self, prompts: Tensor, own: Tensor) -> Tensor:
        """(n, heads, p + r, d). Expanding adds gradients up in a fixed order, which indexing does not do with CUDA."""
        parts = zip(prompts.split(1), self.counts, strict=True)
        return torch.cat([torch.cat([part.expand(n, -1, -1, -1) for part, n in parts]), own], 2)


def _computed_dtype(model: PreTrainedModel) -> torch.dtype:
    """What attention is computed in, which its mask must have, too."""
    kind = model.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else model.dtype


def share_prompts(
    prompts: Sequence[Sequence[int]], counts: Sequence[int], completions: Sequence[Completion], device: torch.device
) -> SharedPrompts:
    """Lay out n completions, the first `counts[0]` of which answer the first prompt, and so on."""
    ids, real_prompt = _padded(prompts, 1)
    responses, real = _padded([c.token_ids for c in completions], 2)
    return SharedPrompts(
        ids.to(device),
        real_prompt.sum(1).to(device),
        tuple(counts),
        torch.arange(len(prompts)).repeat_interleave(torch.tensor(counts)).to(device),
        responses.to(device),
        real.to(device),
        not bool(real_prompt.all()),
    )


def _padded(sequences: Sequence[Sequence[int]], shortest: int) -> tuple[Tensor, Tensor]:
    """Ids (n, t), padded with a row's first token, and which are real; t is at least `shortest`."""
    longest = max(shortest, *map(len, sequences))
    ids = torch.zeros((len(sequences), longest), dtype=torch.long)
    real = torch.zeros((len(sequences), longest), dtype=torch.bool)
    for i, sequence in enumerate(sequences):
        if sequence:
            ids[i] = sequence[0]
            ids[i, : len(sequence)] = torch.tensor(sequence)
            real[i, : len(sequence)] = True
    return ids, real


def why_not_shared(model: PreTrainedModel) -> str | None:
    """Why the model's prompts cannot be computed once, None if they can.

    A model may keep more from one token to the next than keys and values, or ignore the mask or the positions that it
    is given. What its configuration does not tell a trial shows: two prompts with two responses each, in both layouts.
    """
    name = type(model).__name__
    if (kernel := model.config._attn_implementation) not in KERNELS:
        return f"the attention kernel {kernel} takes no mask of queries and keys (--learner.attention sdpa does)"
    if any(type(layer) is not DynamicLayer for layer in DynamicCache(config=model.config).layers):
        return f"{name} has layers with a sliding window, or that keep other things than keys and values"
    for module in model.modules():
        if any(kind in str(getattr(module, "rope_type", "")) for kind in ("dynamic", "longrope")):
            return f"the rotary positions of {name} depend on the longest sequence of a pass"
    difference: float | None = None
    with suppress(TypeError, ValueError, AttributeError, NotImplementedError):
        difference = _trial(model)
    # In bfloat16 states differ by about a hundredth, as any two ways of computing them do.
    if difference is None or not difference < (1e-3 if _computed_dtype(model).itemsize >= 4 else 0.1):
        return f"{name} gives other states for a response when its prompt's keys and values come from a cache"
    return None


@torch.no_grad()
def _trial(model: PreTrainedModel) -> float:
    """Norm of the difference between the hidden states of both layouts over the norm of the states."""
    a, b = [1, 2, 3, 4], [3, 1]
    completions = [Completion(ids, [], "stop") for ids in ([2, 4, 1], [3], [4, 2], [1, 3, 2])]
    plain = pad_sequences([a, a, b, b], completions, model.device).states(model).float()
    shared = share_prompts([a, b], [2, 2], completions, model.device).states(model).float()
    return float((shared - plain).norm() / plain.norm())
