"""What a problem is: a narrative of five masked entities, and how names in an answer are read and compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from vpo_envs.answers import without_reasoning
from vpo_envs.text_match import normalise

LETTERS = "ABCDE"
NAMES = tuple(f"entity_{letter}" for letter in LETTERS)
SIZE = len(LETTERS) + 1  # five masked entities and the one that is shown
MAX_NAME = 1000  # characters; a longer text is no name. Unicode's normal forms take quadratic time on hostile text.

_UNDERSCORES = re.compile("_+")
# White space in a tag is tolerated up to a bound, so that no input makes the search quadratic (as in
# `vpo_envs.answers`). ASCII only, so that no letter of another alphabet counts as one of these.
_TAG = re.compile(r"<\s{0,8}(/?)\s{0,8}entity\s{0,4}_\s{0,4}([A-E])\s{0,8}>", re.IGNORECASE | re.ASCII)
_PLAIN = re.compile(r"<entity_([A-E])>([^<]*)</entity_\1>")


@dataclass(frozen=True)
class Chain:
    """A chain of six entities. Each is described by the next one, and the sixth, the leaf, is shown by name."""

    sentences: tuple[str, ...]
    """The narrative."""
    masks: tuple[str, ...]
    """(6,) what stands for each entity in the narrative, entity_A first, the leaf last."""
    entities: tuple[str, ...]
    """(6,) the names behind the masks. The first five are the solution."""

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """(5,) the normal forms of the solution."""
        return tuple(map(normal_form, self.entities[:5]))


@lru_cache(maxsize=4096)  # an environment has few names, and they come again and again
def normal_form(name: str) -> str:
    """Two names are the same if they have one normal form: that of `text_match`, with underscores as spaces."""
    return normalise(_UNDERSCORES.sub(" ", name))


def stands_in(text: str, sentences: Iterable[str]) -> bool:
    """Whether a text occurs in one of the sentences, and not as a part of a longer word ("person_1" in "person_10")."""
    before, after = (r"(?<!\w)" if text[0].isalnum() else ""), (r"(?!\w)" if text[-1].isalnum() else "")
    whole = re.compile(before + re.escape(text) + after)
    return any(whole.search(sentence) for sentence in sentences)


def named_entities(answer: str) -> tuple[str, ...]:
    """(5,) the normal forms of the names that an answer gives to entity_A ... entity_E, "" where it gives none.

    Of several complete elements of one letter the last counts; what stands in `<think>` does not. Linear in the length
    of `answer`.
    """
    plain = _PLAIN.findall(answer)
    # Nearly always every bracket belongs to a plain element, and then there is nothing else to look at.
    exact = answer.count("<") == 2 * len(plain)
    names = dict.fromkeys(LETTERS, "") | dict(plain if exact else entity_elements(without_reasoning(answer)))
    return tuple([normal_form(name) if len(name) <= MAX_NAME else "" for name in map(str.strip, names.values())])


def entity_elements(answer: str) -> Iterator[tuple[str, str]]:
    """Yield (letter, content) of every complete `<entity_X>` element, in order.

    An element is an opening tag followed by its own closing tag with no other entity's tag between them, so an unclosed
    one, and one that swallows another, do not count.
    """
    opened: tuple[str, int] | None = None
    for match in _TAG.finditer(answer):
        closing, letter = match.group(1), match.group(2).upper()
        if not closing:
            opened = (letter, match.end())
        else:
            if opened is not None and opened[0] == letter:
                yield letter, answer[opened[1] : match.start()]
            opened = None
