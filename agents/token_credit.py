"""Which answer of its response a token belongs to, and what advantage it gets for that.

The answers are spans of the response's text. A token belongs to the part of the text in which its last character
stands: a space, or a tokenizer's own separator, before an answer's opening tag goes with the tag. A token without text
(an end token, the first bytes of a character) belongs where the next character stands, an end token thus to no answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from agents.rollout import Rollouts

Span = tuple[int, int]
Decode = Callable[[Sequence[int]], str]
UNFINISHED = "\N{REPLACEMENT CHARACTER}"  # how decoders show the bytes of a character that is not complete


class AnswerTokens:
    """Tokens of responses -> the numbers of the answers that they belong to.

    Args:
        decode: token ids -> text, as the responses were decoded (`Policy.decode`).
    """

    def __init__(self, decode: Decode) -> None:
        self.decode = decode
        self._piece = cache(lambda token: decode([token]))

    def parts(self, ids: Sequence[int], text: str, spans: Sequence[Span | None]) -> list[int]:
        """For each token of a response 0, or j = 1 ... m for those of answer j.

        Args:
            ids: the response.
            text: what it decodes to.
            spans: m disjoint spans of the text, None for answers that are not there.
        """
        parts = [0] * len(ids)
        if any(spans):
            place = self._places(ids, text)
            for j, span in enumerate(spans, start=1):
                if span is not None:
                    first, end = (bisect_left(range(len(ids)), edge, key=place) for edge in span)
                    parts[first:end] = [j] * (end - first)
        return parts

    def _places(self, ids: Sequence[int], text: str) -> Callable[[int], int]:
        """Token -> its place in the text, which never falls: its last character, without text the next one."""
        pieces = [self._piece(token) for token in ids]
        if "".join(pieces) == text:
            read = [0, *accumulate(map(len, pieces))]
            return lambda i: max(read[i], read[i + 1] - 1)

        # Characters of several tokens, or a decoder that looks at neighbours: only decoding the tokens before tells.
        @cache
        def covered(count: int) -> int:
            """Characters of the text that its first `count` tokens give."""
            decoded = self.decode(ids[:count])
            if text.startswith(decoded):
                return len(decoded)
            decoded = decoded.rstrip(UNFINISHED)
            return len(decoded) if text.startswith(decoded) else _common(decoded, text)

        return lambda i: max(covered(i), covered(i + 1) - 1)


def _common(a: str, b: str) -> int:
    """Length of the longest common prefix."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def token_advantages(advantages: Tensor, rollouts: Rollouts, where: Sequence[tuple[int, int]]) -> Tensor:
    """The advantage of each response token (tokens,) of the rollouts at `where`, one after the other.

    Args:
        advantages: (B, G), the same for all tokens of a rollout; or (B, G, 1 + m), by the part that a token belongs to.
        rollouts: B x G responses.
        where: (prompt, place in its group) of each.

    Raises:
        ValueError: advantages by part, and the rollouts do not tell the parts (`agents.rollout.collect`).
    """
    if advantages.ndim == 2:
        lengths = torch.tensor([len(rollouts.completions[b][g].token_ids) for b, g in where])
        return torch.stack([advantages[b, g] for b, g in where]).repeat_interleave(lengths)
    if rollouts.parts is None:
        raise ValueError("advantages by answer need rollouts that tell whose the tokens are: collect(parts=True)")
    parts = rollouts.parts
    return torch.cat([advantages[b, g][torch.tensor(parts[b][g], device=advantages.device)] for b, g in where])
