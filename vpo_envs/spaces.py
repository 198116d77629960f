"""The space of texts: any Unicode string up to a length."""

from __future__ import annotations

import string
from typing import Any

from gymnasium.spaces import Text


class UnicodeText(Text):
    """Any string of at most `max_length` characters, the empty one included.

    `gymnasium.spaces.Text` lists every character it allows, which for all of Unicode costs seconds and 90 MB to pickle.
    This space contains every string of the right length and *samples* from printable ASCII.
    """

    def __init__(self, max_length: int = 1 << 20) -> None:
        super().__init__(max_length=max_length, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short random printable text (at most 256 characters, so that sampling stays cheap)."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        length = int(self.np_random.integers(0, min(self.max_length, 256) + 1))
        return "".join(self.np_random.choice(self.character_list, size=length))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and other.max_length == self.max_length

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"
