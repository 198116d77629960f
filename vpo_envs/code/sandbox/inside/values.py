"""Base values as text: JSON with tags for what JSON lacks, written by methods that no subclass can override.

tuple {"t": [...]}   set {"s": [...]}   dict {"d": [[key, value], ...]}   large int {"i": hex}   other {"o": type}
"""

from __future__ import annotations

import builtins
from json.decoder import JSONDecoder
from json.encoder import encode_basestring_ascii
from typing import Any

globals()["__builtins__"] = dict(vars(builtins))  # programs may patch the module; the functions below keep this copy

MAX_DEPTH = 64
MAX_NODES = 4_000_000
WIDE = 1 << 63  # integers from here on are written in hexadecimal, which takes linear time

_scan = JSONDecoder().scan_once  # type: ignore[attr-defined]  # C, so that a patched json module does not matter
_quote, _int_text, _float_text, _join = encode_basestring_ascii, int.__repr__, float.__repr__, ",".join
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_type_name = type.__dict__["__name__"].__get__


class Opaque:
    """A decoded value that is no base value. Equal to nothing else."""


class TooLarge(ValueError):
    """More than 4,000,000 values in one."""


def encode(value: Any) -> str:
    """The text of a value. ValueError if it is recursive or deeper than 64 levels, TooLarge beyond 4,000,000 values."""
    return _encode(value, MAX_DEPTH, [MAX_NODES])


def encode_plain(value: Any) -> str:
    """The text of a value that is decoded to an equal one. ValueError also for other objects."""
    text = encode(value)
    if '{"o":' in text:  # never inside a string, where the quotation mark has a backslash before it
        raise ValueError("a value that is no None, bool, int, float, str, list, tuple, dict or set")
    return text


def _encode(value: Any, depth: int, left: list[int]) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    kind = type(value)
    if kind is int or isinstance(value, int):
        number = int.__index__(value)
        return _int_text(number) if -WIDE < number < WIDE else f'{{"i":"{number:x}"}}'
    if kind is str or isinstance(value, str):
        return _quote(str.__str__(value))
    if isinstance(value, float):
        text = _float_text(float.__float__(value))
        return _SPECIAL.get(text, text)
    if isinstance(value, list):
        return f"[{_encode_all(list.__iter__(value), list.__len__(value), depth, left)}]"
    if isinstance(value, tuple):
        return f'{{"t":[{_encode_all(tuple.__iter__(value), tuple.__len__(value), depth, left)}]}}'
    if isinstance(value, dict):
        pairs = [(k, v) for k, v in dict.items(value)]
        _spend(2 * len(pairs), depth, left)
        texts = [f"[{_encode(k, depth - 1, left)},{_encode(v, depth - 1, left)}]" for k, v in pairs]
        return f'{{"d":[{_join(texts)}]}}'
    if isinstance(value, set):
        return f'{{"s":[{_encode_all(set.__iter__(value), set.__len__(value), depth, left)}]}}'
    if isinstance(value, frozenset):
        return f'{{"s":[{_encode_all(frozenset.__iter__(value), frozenset.__len__(value), depth, left)}]}}'
    return f'{{"o":{_quote(_type_name(kind)[:100])}}}'


def _encode_all(values: Any, count: int, depth: int, left: list[int]) -> str:
    _spend(count, depth, left)
    return _join([_encode(v, depth - 1, left) for v in values])


def _spend(count: int, depth: int, left: list[int]) -> None:
    left[0] -= count
    if left[0] < 0:
        raise TooLarge("more than 4,000,000 values")
    if depth <= 0:
        raise ValueError("a value that is recursive, or more than 64 levels deep")


def decode(text: str) -> Any:
    """The value of a text that `encode` made. Raises ValueError, or other exceptions for other texts."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no value") from None
    if end != len(text):
        raise ValueError("text after the value")
    return untag(value)


def untag(value: Any) -> Any:
    """The value that parsed JSON with tags stands for."""
    if type(value) is list:
        return [untag(v) for v in value]
    if type(value) is not dict:
        return value
    ((tag, inner),) = value.items()
    if tag == "t":
        return tuple([untag(v) for v in inner])
    if tag == "s":
        return {untag(v) for v in inner}
    if tag == "d":
        return {untag(k): untag(v) for k, v in inner}
    if tag == "i":
        return int(inner, 16)
    if tag == "o":
        return Opaque()
    raise ValueError(f"unknown tag {tag!r}")
