"""When two argument values match: the comparison behind `arg_value`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from math import isfinite
from typing import Any

from vpo_envs.text_match import tokens

MAX_DIGITS = 300
"""Characters of a number; a longer one is no number. A float has at most 309 digits before the point."""

# JSON's own spelling: no leading zeros and no plus sign, so that identifiers such as "007" stay texts.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BOOLEANS = {"true": True, "false": False}


def parse_number(text: str) -> int | float:
    """The number that a JSON literal spells. Raises ValueError where it is too long, or too large for a float."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of more than {MAX_DIGITS} characters")
    if text.lstrip("-").isdecimal():
        return int(text)
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def literal(text: str) -> int | float | bool | None:
    """The number or boolean that a text spells, None where it spells neither."""
    text = text.strip()
    if not text or text[0] not in "-0123456789tTfF":
        return None
    if text[0] in "tTfF":
        return _BOOLEANS.get(text.lower()) if len(text) < 6 else None
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return parse_number(text)
    except ValueError:
        return None


class Form:
    """A value, prepared for comparisons: each is read once, and only as far as needed, however often it is compared.

    Args:
        value: anything that JSON can hold but NaN and infinities.
    """

    __slots__ = ("_items", "_words", "fields", "kind", "text", "value")

    def __init__(self, value: Any) -> None:
        self._words: Counter[str] | None = None
        self._items: Counter[Hashable] | None = None
        self.text: str | None = None
        """The text itself, also where it spells something else."""
        self.fields: dict[str, Form] = {}
        """Forms of the values in an object."""
        self.kind = "text"
        """"text", "number", "boolean", "list", "object" or "null". For a text: of what it spells."""
        if isinstance(value, str):
            self.text = value
            spelled = literal(value)
            value = value if spelled is None else spelled
        self.value = value
        if isinstance(value, bool):  # before numbers: in Python True == 1
            self.kind = "boolean"
        elif isinstance(value, int | float):
            self.kind = "number"
        elif isinstance(value, list):
            self.kind = "list"
        elif isinstance(value, dict):
            self.kind = "object"
            self.fields = {key: Form(inner) for key, inner in value.items()}
        elif value is None:
            self.kind = "null"

    @property
    def words(self) -> Counter[str]:
        """The tokens of a text."""
        if self._words is None:
            self._words = Counter(tokens(self.text or ""))
        return self._words

    @property
    def items(self) -> Counter[Hashable]:
        """The keys of the elements of a list."""
        if self._items is None:
            self._items = Counter(Form(element).key for element in self.value)
        return self._items

    @property
    def key(self) -> Hashable:
        """Equal for values that match in full."""
        if self.kind == "text":
            return self.kind, frozenset(self.words.items()) if self.words else self.text
        if self.kind == "list":
            return self.kind, frozenset(self.items.items())
        if self.kind == "object":
            return self.kind, frozenset((name, form.key) for name, form in self.fields.items())
        return self.kind, self.value


def match(gold: Form, made: Form) -> float:
    """How well a value matches the gold one, in [0, 1].

    * Numbers and booleans match by value, as do texts that spell them: "27.0" matches 27, "False" matches false, but 1
      does not match true, and no other word is a boolean. Where the gold value spells a number nothing else matches.
    * Other texts match by token F1; where neither has a token, by being equal.
    * Lists match by multiset F1 of their elements, which must match in full.
    * Objects match by the mean over the gold keys; a missing key is 0. Only an empty object matches an empty one.
    * null matches null.
    """
    if gold.kind == "text":
        if made.text is None:
            return 0.0
        if gold.text == made.text:
            return 1.0
        return _multiset_f1(made.words, gold.words) if gold.words else 0.0
    if gold.kind != made.kind:
        return 0.0
    if gold.kind == "list":
        return _multiset_f1(made.items, gold.items)
    if gold.fields:
        found = made.fields
        return sum(match(form, found[key]) for key, form in gold.fields.items() if key in found) / len(gold.fields)
    return float(gold.value == made.value)


def _multiset_f1(found: Counter[Any], gold: Counter[Any]) -> float:
    """`text_match.multiset_f1` of counters."""
    common = sum(min(number, found[item]) for item, number in gold.items() if item in found)
    total = found.total() + gold.total()
    return 2 * common / total if total else 1.0
