"""Names of invented people, places and works. A name says nothing about what it names."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Literal

Kind = Literal["person", "place", "work"]

# Every word is in one list only, and there are few, so that a small tokenizer has a token for each. No first name
# begins with an A: as an initial it would be an article, which is not compared.
_FIRST = (
    "Bel Bran Cato Cleo Dara Dov Edda Eron Fay Fenn Gil Greta Hale Hedy Ilka Ivo Jana Joss Kiri Kurt "
    "Lena Lorn Mab Milo Nell Niko Olga Otis Pia Quin Rhea Rolf Sela Stig Thea Ugo Vera Wim Yara Zeno"
)
_LAST = (
    "Abbot Arden Basso Bligh Crane Culp Dace Dunmor Egger Eyre Falk Frome Gant Grist Hobb Holm Ibsen Izard Jolley Jude "
    "Keel Knapp Lusk Lyle Madden Moro Nash Norrel Ogle Orme Pratt Pym Quill Rask Rudd Slade Tosk Ulmer Vane Wragg"
)
_ADJECTIVES = (
    "Amber Bitter Black Broken Burning Calm Cold Crooked Deep Distant Dry Early Empty Endless Faded Frozen Gentle "
    "Golden Grey Hidden Hollow Idle Iron Last Lonely Long Lost Narrow Old Pale Quiet Red Salt Second Silent Silver "
    "Stolen Tall White Wild"
)
_NOUNS = (
    "Anchor Bell Book Bridge Candle Clock Coat Door Drum Feather Fence Garden Gate Glass Harp Hill House Island Key "
    "Ladder Lamp Letter Mirror Moon Needle Oak Orchard Owl River Road Rope Shadow Ship Shore Star Stone Tower Tree "
    "Well Window"
)
_STEMS = "Bar Cal Dor Fen Gal Har Kel Lor Mar Nor Ost Pel Rav Ros Sel Tor Ul Ven Wes Yar"
_ENDINGS = "ath em ic ona uv esk ole ind"

_PARTS: dict[Kind, tuple[tuple[str, ...], ...]] = {
    "person": (tuple(_FIRST.split()), tuple(_LAST.split())),
    "place": (tuple(stem + ending for stem, ending in product(_STEMS.split(), _ENDINGS.split())),),
    "work": (tuple(_ADJECTIVES.split()), tuple(_NOUNS.split())),
}
"""Each kind's pools of words; a name takes one word from each."""

NAME_WORDS = frozenset(word for pools in _PARTS.values() for pool in pools for word in pool)


MAX_WORDS = max(len(pool) for pools in _PARTS.values() for pool in pools)


PATIENCE = 300
"""Draws in vain after which the first words of the pools are taken to be used up."""


class Names:
    """Draws names of the first so many words of each pool, none of them twice; of all words once those are used up."""

    def __init__(self, rng: Random, words: int) -> None:
        self._rng, self._words = rng, words
        self._kinds: dict[str, Kind] = {}

    def kind(self, name: str) -> Kind:
        """What a drawn name names."""
        return self._kinds[name]

    def aliases(self, name: str) -> tuple[str, ...]:
        """Other spellings of a drawn name that mean no other drawn name."""
        others = {s for other, kind in self._kinds.items() if other != name for s in spellings(other, kind)}
        return tuple(s for s in spellings(name, self.kind(name)) if s not in others)

    def fresh(self, kind: Kind, like: str = "") -> str:
        """A name that was not drawn before. With `like`, if it has two words, nearly always one with the same last."""
        name, attempts = "", 0
        while not name or name in self._kinds:
            if attempts == PATIENCE:  # all names of the first words are taken
                self._words = MAX_WORDS
            words = [self._rng.choice(pool[: self._words]) for pool in _PARTS[kind]]
            if like and len(words) == 2 and attempts < 20:  # perhaps all namesakes are drawn
                words[1] = like.split()[1]
            name, attempts = " ".join(words), attempts + 1
        self._kinds[name] = kind
        return name


def spellings(name: str, kind: Kind) -> tuple[str, ...]:
    """Other spellings of a name, without words that others share: "town of X" would earn F1 for "town of"."""
    if kind == "person":
        first, last = name.split()
        return (f"{first[0]}. {last}",)
    if kind == "work":
        return (name.replace(" ", "-"),)
    return ()
