"""Sums over the tokens of an update, on the device until the step is done: what its metrics are made of."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.processes import Processes

SUMMED = ("tokens", "loss", "kl", "clip_fraction", "entropy", "engine_ratio", "engine_ratio_capped")
"""`engine_ratio` is the probability of a token in the learner over that in the generating engine, `engine_ratio_capped`
whether truncated importance sampling cut it."""


class TokenSums:
    """One sum for each name in `SUMMED`, and the largest ratio of the engines."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(len(SUMMED), dtype=torch.float64, device=device)
        self.largest_ratio = torch.zeros((), dtype=torch.float64, device=device)

    @torch.no_grad()
    def add(self, engine_ratio: Tensor, **values: Tensor) -> None:
        """Add values (tokens,) of one pass; names that are left out count as zeros."""
        values |= {"tokens": torch.ones_like(engine_ratio), "engine_ratio": engine_ratio}
        zero = self.sums.new_zeros(())
        self.sums += torch.stack([values[name].sum(dtype=torch.float64) if name in values else zero for name in SUMMED])
        self.largest_ratio = torch.maximum(self.largest_ratio, engine_ratio.max().double())

    def merge(self, other: TokenSums) -> None:
        self.sums += other.sums
        self.largest_ratio = torch.maximum(self.largest_ratio, other.largest_ratio)

    def joined(self, processes: Processes) -> TokenSums:
        """The sums of all processes together."""
        if processes.count == 1:
            return self
        joined = TokenSums(self.sums.device)
        for sums, ratio in processes.gather((self.sums.tolist(), float(self.largest_ratio))):
            joined.sums += joined.sums.new_tensor(sums)
            joined.largest_ratio = joined.largest_ratio.clamp(min=ratio)
        return joined

    def finite(self) -> bool:
        """Whether the loss and the others are numbers: a cap makes a finite loss of a ratio that is not finite."""
        return bool(self.sums.isfinite().all())

    def means(self) -> dict[str, float]:
        """Token means under the names in `SUMMED`, and `engine_ratio_max`; empty without tokens."""
        tokens, *sums = self.sums.tolist()
        if tokens == 0:
            return {}
        means = {name: total / tokens for name, total in zip(SUMMED[1:], sums, strict=True)}
        return means | {"engine_ratio_max": float(self.largest_ratio)}
