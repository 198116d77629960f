"""Sampling with a transformers model: each prompt is read once, and responses that have ended leave the batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from transformers import PreTrainedModel

from agents.generation.base import Completion, Generator, Sampling
from agents.generation.cache import growing_cache
from agents.precision import computing_in

COMPACT_BELOW = 0.8  # share of unfinished rows below which the finished ones are taken out


class TransformersGenerator(Generator):
    """Generates with the very model that is trained, so `sync` has nothing to move."""

    def __init__(
        self,
        model: PreTrainedModel,
        end_ids: Sequence[int],
        pad_id: int,
        rows: int = 512,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.model, self.dtype = model, dtype
        self.end_ids = torch.tensor(list(end_ids), dtype=torch.long, device=model.device)
        self.pad_id = pad_id
        self.rows = max(1, rows)

    def sync(self, model: PreTrainedModel) -> None:
        self.model = model

    def stream(
        self, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[Completion]]]:
        """n continuations of each prompt, those of a batch together (see `Generator`)."""
        # Prompts of similar length together, so that little is padding.
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        at_once = max(1, self.rows // n)
        for first in range(0, len(order), at_once):
            batch = order[first : first + at_once]
            # One uniform number per response and token: what is sampled does not depend on how the work is cut.
            noise = torch.cat([_uniform(sampling.max_tokens, n, seeds[i]) for i in batch], 1)
            done = self._sample([prompts[i] for i in batch], n, sampling, noise)
            for place, i in enumerate(batch):
                yield i, done[place * n : (place + 1) * n]

    @torch.no_grad()
    def _sample(
        self, prompts: list[Sequence[int]], n: int, sampling: Sampling, noise: torch.Tensor
    ) -> list[Completion]:
        """n completions of each prompt, with uniform numbers (max_tokens, prompts x n)."""
        training = self.model.training
        self.model.eval()
        try:
            with computing_in(self.dtype, self.model.device):
                return self._decode(prompts, n, sampling, noise)
        finally:
            self.model.train(training)

    def _decode(
        self, prompts: list[Sequence[int]], n: int, sampling: Sampling, noise: torch.Tensor
    ) -> list[Completion]:
        device = self.model.device
        rows, longest = len(prompts) * n, max(map(len, prompts))
        ids = torch.full((len(prompts), longest), self.pad_id, device=device)
        mask = torch.zeros((len(prompts), longest), dtype=torch.long, device=device)
        for i, prompt in enumerate(prompts):
            ids[i, longest - len(prompt) :] = torch.tensor(prompt, device=device)
            mask[i, longest - len(prompt) :] = 1
        padded = not bool(mask.all())
        cache = growing_cache(self.model.config)
        position = (mask.cumsum(-1) - 1).clamp(min=0)
        logits = self.model(
            input_ids=ids,
            attention_mask=mask if padded else None,
            position_ids=position,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits[:, -1]
        cache.batch_repeat_interleave(n)
        logits = logits.repeat_interleave(n, 0)
        mask, position = mask.repeat_interleave(n, 0), position[:, -1:].repeat_interleave(n, 0)

        tokens = torch.full((rows, sampling.max_tokens), -1, device=device)
        logprobs = torch.zeros((rows, sampling.max_tokens), device=device)
        live = torch.arange(rows, device=device)  # the response that each row of the batch belongs to
        open_ = torch.ones(rows, dtype=torch.bool, device=device)  # rows whose response has not ended
        for t in range(sampling.max_tokens):
            token, logprob = draw(logits, sampling, noise[t].to(device)[live])
            tokens[live[open_], t], logprobs[live[open_], t] = token[open_], logprob[open_]
            open_ &= ~torch.isin(token, self.end_ids)
            remaining = int(open_.sum())
            if remaining == 0 or t + 1 == sampling.max_tokens:
                break
            if remaining < COMPACT_BELOW * len(open_):
                keep = open_.nonzero().squeeze(1)
                cache.batch_select_indices(keep)
                live, token, mask, position = live[keep], token[keep], mask[keep], position[keep]
                open_ = torch.ones_like(keep, dtype=torch.bool)
            position = position + 1
            if padded:
                mask = torch.cat([mask, mask.new_ones((len(mask), 1))], 1)
            logits = self.model(
                input_ids=token[:, None],
                attention_mask=mask if padded else None,
                position_ids=position,
                past_key_values=cache,
                use_cache=True,
            ).logits[:, -1]
        return _completions(tokens, logprobs, set(self.end_ids.tolist()))


def _uniform(tokens: int, n: int, seed: int) -> torch.Tensor:
    return torch.rand((tokens, n), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def draw(logits: torch.Tensor, sampling: Sampling, uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sample one token per row of logits (n, v) by inverting the distribution at `uniform` (n,) in [0, 1).

    Returns the tokens (n,) and their log-probabilities (n,) in the distribution that was sampled from.
    """
    logits = logits.float()
    if sampling.temperature == 0:
        token = logits.argmax(-1)
        return token, logits.log_softmax(-1).gather(-1, token[:, None]).squeeze(-1)
    logp = (logits / sampling.temperature).log_softmax(-1)
    if sampling.top_p < 1:
        # Keep the smallest set of most likely tokens whose mass reaches top_p.
        ordered, index = logp.sort(-1, descending=True)
        before = ordered.exp().cumsum(-1) - ordered.exp()
        logp = logp.masked_fill(
            torch.zeros_like(logp, dtype=torch.bool).scatter(-1, index, before >= sampling.top_p), -torch.inf
        )
        logp = logp.log_softmax(-1)
    mass = logp.double().exp().cumsum(-1)
    token = torch.searchsorted(mass, (uniform * mass[:, -1])[:, None], right=True).squeeze(-1)
    token = token.clamp(max=logp.shape[-1] - 1)
    return token, logp.gather(-1, token[:, None]).squeeze(-1)


def _completions(tokens: torch.Tensor, logprobs: torch.Tensor, end_ids: set[int]) -> list[Completion]:
    lengths = (tokens >= 0).sum(-1).tolist()
    out = []
    for ids, lps, length in zip(tokens.tolist(), logprobs.tolist(), lengths, strict=True):
        stopped = length > 0 and ids[length - 1] in end_ids
        out.append(Completion(ids[:length], lps[:length], "stop" if stopped else "length"))
    return out
