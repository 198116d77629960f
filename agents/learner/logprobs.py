"""Log-probabilities of response tokens, without ever holding all logits.

The transformer's hidden states of the response tokens go through the output head a chunk at a time, and the backward
pass computes each chunk's logits again. With temporaries, up to three arrays of (chunk, vocabulary) in float32 exist at
one time: 1.8 GB for 1,024 tokens and a vocabulary of 150,000, where all logits of a batch would be many times that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from agents.generation import Completion

PROBE = 100.0  # logits of this size are beyond any soft cap in use


class Layout(Protocol):
    """Prompts and responses as tensors for one pass."""

    @property
    def targets(self) -> Tensor:
        """(tokens,) the response tokens, row by row."""

    def states(self, model: PreTrainedModel) -> Tensor:
        """(tokens, d) the hidden states that predict the targets."""


@dataclass(frozen=True)
class Sequences:
    """n prompts with their responses, right-padded to t tokens.

    There is no attention mask: under causal attention no real token sees the padding behind it, and without a mask the
    fast kernels apply. The padding repeats the row's first token, since the models warn about their own pad token.
    """

    ids: Tensor
    """(n, t)."""
    response: Tensor
    """(n, t - 1) bool: position i predicts token i + 1, which belongs to the response."""

    @property
    def targets(self) -> Tensor:
        """(tokens,) the response tokens, row by row."""
        return self.ids[:, 1:][self.response]

    def states(self, model: PreTrainedModel) -> Tensor:
        """(tokens, d) the hidden states that predict the targets."""
        hidden: Tensor = model.base_model(input_ids=self.ids, use_cache=False).last_hidden_state  # (n, t, d)
        return hidden[:, :-1][self.response]


def pad_sequences(
    prompts: Sequence[Sequence[int]], completions: Sequence[Completion], device: torch.device
) -> Sequences:
    """Lay out n prompts and responses as one right-padded batch."""
    longest = max(len(p) + len(c.token_ids) for p, c in zip(prompts, completions, strict=True))
    ids = torch.zeros((len(prompts), longest), dtype=torch.long)
    response = torch.zeros((len(prompts), longest - 1), dtype=torch.bool)
    for i, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        start, end = len(prompt), len(prompt) + len(completion.token_ids)
        ids[i] = prompt[0]
        ids[i, :end] = torch.tensor([*prompt, *completion.token_ids])
        response[i, start - 1 : end - 1] = True
    return Sequences(ids.to(device), response.to(device))


def response_logprobs(
    model: PreTrainedModel, sequences: Layout, temperature: float, chunk: int
) -> tuple[Tensor, Tensor]:
    """Log-probabilities (tokens,) of the response tokens at this temperature, and the entropies there (no gradient).

    Tokens run row by row, as in `sequences.targets`. Everything is float32 at least: smaller logits are promoted.
    """
    states, targets = sequences.states(model), sequences.targets
    head = model.get_output_embeddings()
    logprobs, entropies = [], []
    for start in range(0, len(targets), chunk):
        part = (head, states[start : start + chunk], targets[start : start + chunk], temperature)
        if torch.is_grad_enabled() and len(targets) > chunk:
            lp, entropy = checkpoint(_chunk_logprobs, *part, use_reentrant=False)
        else:
            lp, entropy = _chunk_logprobs(*part)
        logprobs.append(lp)
        entropies.append(entropy)
    return torch.cat(logprobs), torch.cat(entropies)


def _chunk_logprobs(head: nn.Module, states: Tensor, targets: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    logits = head(states)  # (chunk, v)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)).div(temperature)
    normaliser = logits.logsumexp(-1)
    with torch.no_grad():
        p = (logits - normaliser[:, None]).exp_()
        entropy = normaliser - p.mul_(logits).nan_to_num_(0.0).sum(-1)  # a logit of -inf adds 0 x -inf
    return logits.gather(-1, targets[:, None]).squeeze(-1) - normaliser, entropy


@torch.no_grad()
def check_head(model: PreTrainedModel) -> None:
    """Raise ValueError if the model does more than `head(hidden)` to get its logits (soft-capping, scaling ...)."""
    ids = torch.arange(4, device=model.device)[None]
    ones = torch.ones_like(ids)  # said outright, since one of these ids may be the model's padding
    head = model.get_output_embeddings()
    hidden = model.base_model(input_ids=ids, attention_mask=ones, use_cache=False).last_hidden_state
    # A soft cap hardly changes small logits, so the head's output is scaled to where one shows.
    scale = PROBE / max(float(head(hidden).abs().max()), 1e-6)
    handle = head.register_forward_hook(lambda module, inputs, output: output * scale)
    try:
        whole = model(input_ids=ids, attention_mask=ones, use_cache=False).logits.float()
        split = head(hidden).float()
    finally:
        handle.remove()
    if (whole - split).abs().max() > 1e-3 * PROBE:
        raise ValueError(
            f"{type(model).__name__} transforms its logits after the output head, which the learner does not reproduce"
        )
