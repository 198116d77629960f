"""What every generation backend offers: token ids in, n sampled continuations out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from transformers import PreTrainedModel


@dataclass(frozen=True)
class Completion:
    """One sampled continuation."""

    token_ids: list[int]
    """Includes the token that ended it, if one did."""
    logprobs: list[float]
    """Log-probability of each token in the distribution it was sampled from (after temperature and top-p)."""
    finish_reason: Literal["stop", "length"]


@dataclass(frozen=True)
class Sampling:
    """How to sample. `temperature` 0 is greedy, and its log-probabilities are those of temperature 1."""

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature must be at least 0 and finite, not {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], not {self.top_p}")


class EngineError(RuntimeError):
    """The engine failed while it generated, or while it took new weights. It cannot be used any more."""


class Generator(ABC):
    """A generation backend."""

    @abstractmethod
    def stream(
        self, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[Completion]]]:
        """Yield each prompt's place and its n continuations, as they get done.

        `seeds` has one seed for each prompt, at least n apart (or random): what is sampled for a prompt depends on the
        prompt, n, the sampling and its seed, not on the other prompts. No global random state is used.
        """

    @abstractmethod
    def sync(self, model: PreTrainedModel) -> None:
        """Use these weights from now on."""

    def generate(
        self, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling, seeds: Sequence[int]
    ) -> list[list[Completion]]:
        """n continuations of each prompt (see `stream`)."""
        done = dict(self.stream(prompts, n, sampling, seeds))
        return [done[i] for i in range(len(prompts))]

    def rest(self) -> None:  # noqa: B027 - most backends hold nothing that the learner could use
        """The learner works now: give it the memory that is not needed before the next `sync`."""

    def close(self) -> None:  # noqa: B027
        """Free what the backend holds; it cannot be used any more."""
