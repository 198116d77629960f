"""Whether an output or a result is the expected one. Linear in the size of both; nothing untrusted is executed."""

from __future__ import annotations

import math
import re
from json.decoder import JSONDecoder
from typing import Any

_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18}))?", re.ASCII)
_LONG_NUMBER = re.compile(rb"[0-9]{1000}")
_WIDEST = 64  # 1e+300 and the same integer in hexadecimal differ by a factor of 42
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


class Malformed(ValueError):
    """A claimed result that the program's harness cannot have sent."""


# ---- standard output ------------------------------------------------------------------------------------------------


def same_output(output: str, expected: str, tolerance: float | None = None) -> bool:
    """Whether two printed texts agree.

    Both are stripped and split into lines, of which there must be equally many. Lines agree if their tokens do, one by
    one: as text, or as decimal numbers of exactly the same value ("1.0" is "1", "1e2" is "100"), or with a `tolerance`
    as finite numbers that differ by at most so much, relatively or absolutely, where the expected one has a fraction or
    an exponent. "nan" and "inf" are texts.
    """
    output, expected = output.strip(), expected.strip()
    if output.count("\n") != expected.count("\n"):  # first, for a list of many lines takes much memory
        return False
    lines = zip(output.split("\n"), expected.split("\n"), strict=True)
    return all(ours == theirs or _same_line(ours, theirs, tolerance) for ours, theirs in lines)


def _same_line(ours: str, theirs: str, tolerance: float | None) -> bool:
    b = theirs.split()
    a = ours.split(None, len(b))  # one more than there should be, at most
    return len(a) == len(b) and all(x == y or _same_token(x, y, tolerance) for x, y in zip(a, b, strict=True))


def _same_token(ours: str, theirs: str, tolerance: float | None) -> bool:
    value = decimal_value(theirs)
    if value is None:
        return False
    if value == decimal_value(ours):
        return True
    if tolerance is None or not any(mark in theirs for mark in ".eE"):
        return False
    return bool(_FLOAT.fullmatch(ours)) and _near(float(ours), float(theirs), tolerance)


def _near(a: float, b: float, tolerance: float) -> bool:
    return math.isfinite(a) and math.isfinite(b) and math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def decimal_value(token: str) -> tuple[bool, str, int] | None:
    """(negative, digits, exponent) of a decimal number: equal for equal values. None for other texts."""
    match = _DECIMAL.fullmatch(token)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    digits = whole + fraction
    if not digits:
        return None
    kept = digits.rstrip("0")
    if not (significant := kept.lstrip("0")):
        return (False, "", 0)
    return (sign == "-", significant, int(exponent or 0) - len(fraction) + len(digits) - len(kept))


# ---- results of calls -----------------------------------------------------------------------------------------------


def parse_result(payload: bytes) -> Any:
    """The JSON of a claimed result, still with its tags (`inside/values.py`). Raises Malformed."""
    decoder = _SUSPICIOUS if _LONG_NUMBER.search(payload) else _USUAL
    try:
        return decoder.decode(payload.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from error


def may_be_equal(payload: bytes, expected: bytes) -> bool:
    """Whether two encoded values can be equal, told without parsing them: then both have as many elements."""
    as_long = len(payload) <= _WIDEST * len(expected)
    return as_long and all(payload.count(mark) == expected.count(mark) for mark in (b"[", b","))


def _short(kind: type) -> Any:
    """A reader of numbers that refuses long ones, which take more than linear time."""

    def read(text: str) -> Any:
        if len(text) > 1000:
            raise ValueError("a number of more than 1,000 characters")
        return kind(text)

    return read


_USUAL, _SUSPICIOUS = JSONDecoder(), JSONDecoder(parse_int=_short(int), parse_float=_short(float))


def same_result(result: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Whether a tagged result equals the expected value as Python compares base values.

    bool, int and float by value, NaN equal to nothing, strings, sets and dicts exactly; lists and tuples differ, except
    at the top. With a `tolerance`, a number agrees with an expected float if both are finite and differ by at most so
    much, relatively or absolutely. No set or dict is ever built from the result: its elements are looked up in the
    expected one.
    """
    if isinstance(expected, list | tuple) and type(result) is dict and set(result) == {"t"}:
        result = result["t"]
        expected = list(expected)
    elif isinstance(expected, tuple) and type(result) is list:
        expected = list(expected)
    try:
        return _same(result, expected, tolerance)
    except RecursionError:
        return False


def _same(result: Any, expected: Any, tolerance: float | None) -> bool:
    if isinstance(expected, list):
        if type(result) is not list or len(result) != len(expected):
            return False
        return all(_same(r, e, tolerance) for r, e in zip(result, expected, strict=True))
    if type(result) is dict:
        return len(result) == 1 and _same_tagged(*next(iter(result.items())), expected, tolerance)
    return _same_atom(result, expected, tolerance)


def _same_tagged(tag: str, inner: Any, expected: Any, tolerance: float | None) -> bool:
    if tag == "i":
        return (number := _wide(inner)) is not None and _same_atom(number, expected, tolerance)
    if type(inner) is not list:
        return False
    if tag == "t":
        return isinstance(expected, tuple) and _same(inner, list(expected), tolerance)
    if tag == "s" and isinstance(expected, set | frozenset):
        members = {key: key for key in expected}
        return len(inner) == len(members) and len({id(_known(v, members)) for v in inner} - {id(_NO)}) == len(members)
    if tag == "d" and isinstance(expected, dict):
        keys, seen = {key: key for key in expected}, set()
        if len(inner) != len(keys):
            return False
        for pair in inner:
            if type(pair) is not list or len(pair) != 2 or (key := _known(pair[0], keys)) is _NO:
                return False
            seen.add(id(key))
            if not _same(pair[1], expected[key], tolerance):
                return False
        return len(seen) == len(keys)
    return False


def _same_atom(result: Any, expected: Any, tolerance: float | None) -> bool:
    if result is None or expected is None:
        return result is expected
    if type(result) is str or isinstance(expected, str):
        return type(result) is str and isinstance(expected, str) and result == expected
    if not isinstance(result, int | float) or not isinstance(expected, int | float):
        return False
    if result == expected:
        return True
    if tolerance is None or not isinstance(expected, float):
        return False
    try:
        return _near(result, expected, tolerance)
    except OverflowError:
        return False


_NO = object()


def _known(value: Any, keys: dict[Any, Any]) -> Any:
    """The expected key that equals a tagged value, or `_NO`."""
    try:
        return keys.get(_hashable(value), _NO)
    except (TypeError, ValueError):
        return _NO


def _hashable(value: Any) -> Any:
    if type(value) is dict:
        if len(value) != 1:
            raise ValueError
        ((tag, inner),) = value.items()
        if tag == "i" and (number := _wide(inner)) is not None:
            return number
        if tag == "t" and type(inner) is list:
            return tuple([_hashable(v) for v in inner])
        raise ValueError
    if value != value:  # NaN equals nothing, but would be found if it were the same object
        raise ValueError
    return value  # a list cannot be hashed: TypeError


def _wide(text: Any) -> int | None:
    """The integer of a tag "i", if it is one."""
    try:
        return int(text, 16) if type(text) is str else None
    except ValueError:
        return None
