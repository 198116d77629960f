"""Texts as vectors of fixed length, by signed feature hashing (Weinberger et al. 2009, arXiv 0902.2206)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_KNOWN = 1 << 16  # features whose place is remembered


def features(text: str) -> Iterator[str]:
    """Words, pairs of neighbouring words, words with their line and place in it, and runs of three characters.

    Places tell grids and numbered lists apart, whose bags of words are alike.
    """
    words = text.split()
    yield from (f"word {word}" for word in words)
    yield from (f"pair {one} {other}" for one, other in pairwise(words))
    for row, line in enumerate(text.splitlines()):
        yield from (f"place {row} {column} {word}" for column, word in enumerate(line.split()))
    yield from (f"run {text[i : i + 3]}" for i in range(len(text) - 2))


class TextFeatures:
    """Embeds texts in [-1, 1]^dimension: every feature adds +1 or -1 to one component, then the length is made 1.

    The component and the sign are bits of a BLAKE2 digest, so they are the same in every process. The empty text is the
    zero vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._known: dict[str, tuple[int, float]] = {}

    def __call__(self, text: str) -> NDArray[np.float32]:
        """float32 (dimension,)."""
        vector = np.zeros(self.dimension)
        for feature in features(text):
            component, sign = self._known.get(feature) or self._hash(feature)
            vector[component] += sign
        norm = np.linalg.norm(vector)
        return (vector / norm if norm else vector).astype(np.float32)

    def _hash(self, feature: str) -> tuple[int, float]:
        number = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        place = ((number >> 1) % self.dimension, 1.0 if number & 1 else -1.0)
        if len(self._known) < MOST_KNOWN:
            self._known[feature] = place
        return place

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}
