"""How texts are compared: SQuAD-style normalisation, exact match, token F1, multiset F1.

The rules are those of the SQuAD evaluation (Rajpurkar et al. 2016, arXiv 1606.05250): lower case, no ASCII
punctuation, no articles, white space folded. Before that, Unicode compatibility forms are folded (NFKC), so that a
full-width digit or a ligature equals its plain form.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable
from unicodedata import is_normalized, normalize

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = frozenset({"a", "an", "the"})
LONG_WORD = 256  # characters
_UNDERSCORES = re.compile("_+")


def normalise(text: str) -> str:
    """The normal form of a text: its `tokens`, joined by single spaces."""
    return " ".join(tokens(text))


def tokens(text: str) -> list[str]:
    """The words of a text that count: lower case, without ASCII punctuation and articles."""
    if not text.isascii() and not is_normalized("NFKC", text):
        text = " ".join(map(_fold, text.split()))
    words = text.lower().translate(_PUNCTUATION).split()
    return [word for word in words if word not in _ARTICLES]


def _fold(word: str) -> str:
    """NFKC of a word, in pieces if it is very long: the time it takes grows with the square of a run of accents."""
    if len(word) <= LONG_WORD:
        return normalize("NFKC", word)
    return "".join(normalize("NFKC", word[i : i + LONG_WORD]) for i in range(0, len(word), LONG_WORD))


def exact_match(text: str, gold: str, underscores: bool = False) -> bool:
    """Whether two texts have one normal form. With `underscores`, an underscore is a space; a text without any
    word left matches nothing."""
    if underscores:
        text, gold = _UNDERSCORES.sub(" ", text), _UNDERSCORES.sub(" ", gold)
    form = normalise(text)
    return bool(form) and form == normalise(gold)


def token_f1(text: str, gold: str) -> float:
    """F1 in [0, 1] of the two texts' multisets of `tokens`; 1 if both are empty, 0 if only one is."""
    return multiset_f1(tokens(text), tokens(gold))


def multiset_f1(found: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """F1 in [0, 1] of two multisets, 2 |found & gold| / (|found| + |gold|); 1 if both are empty."""
    have, want = Counter(found), Counter(gold)
    total = have.total() + want.total()
    return 2 * (have & want).total() / total if total else 1.0
