"""When an output or a result is the expected one."""

from __future__ import annotations

import json
import math
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpo_envs.code.sandbox.compare import Malformed, decimal_value, may_be_equal, parse_result, same_output, same_result
from vpo_envs.code.sandbox.inside.values import Opaque, TooLarge, decode, encode


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("1\n2\n", "1\n2", True),
        ("\n\n 1 \r\n2\t\n\n", "1\n2", True),
        ("a  b\tc", "a b c", True),
        ("1\n\n2", "1\n2", False),
        ("1\n2", "1 2", False),
        ("1 2", "1 2 3", False),
        ("", "", True),
        ("", "0", False),
        ("0", "", False),
        ("1.0", "1", True),
        ("1.50", "1.5", True),
        (".5", "0.5", True),
        ("5.", "5", True),
        ("007", "7", True),
        ("+1", "1", True),
        ("-0", "0", True),
        ("-1", "1", False),
        ("1e2", "100", True),
        ("1E-2", "0.01", True),
        ("1.0000001", "1", False),
        ("0.1000000000000000055511151231257827", "0.1", False),
        ("1e999999999999999", "10e999999999999998", True),
        ("1e999999999999999", "1e999999999999998", False),
        ("1e" + "9" * 1000, "1e" + "9" * 1000, True),  # as text
        ("1e" + "9" * 1000, "10e" + "9" * 1000, False),
        ("nan", "nan", True),
        ("NaN", "nan", False),
        ("sNaN", "1000", False),
        ("inf", "Infinity", False),
        ("1_000", "1000", False),
        ("１", "1", False),
        ("0x10", "16", False),
        ("yes", "YES", False),
        ("1,2", "1, 2", False),
        (".", "0", False),
        ("e5", "0", False),
        ("é", "é", True),
        ("9" * 10**6, "9" * 10**6 + ".0", True),
        ("9" * 10**6 + "x", "9" * 10**6 + "y", False),
    ],
)
def test_printed_texts(output: str, expected: str, same: bool) -> None:
    assert same_output(output, expected) is same
    assert same_output(expected, output) is same


def test_printed_numbers_with_a_tolerance() -> None:
    assert same_output("0.30000000000000004", "0.3", 1e-9)
    assert same_output("1000001", "1000000.0", 1e-5)
    assert same_output("1000001", "1e6", 1e-5)
    assert not same_output("0.31", "0.3", 1e-9)
    for ours, theirs in (("1000001", "1000000"), ("1000000.5", "1000000"), ("-1000001", "-1000000"), ("x", "0.3")):
        assert not same_output(ours, theirs, 1e-5)  # whole numbers count exactly
    for ours, theirs in (("nan", "0.3"), ("1e999", "0.3"), ("1e999", "2e999"), ("0.3", "1e999"), ("inf", "1e999")):
        assert not same_output(ours, theirs, 0.9)


def test_results_with_a_tolerance() -> None:
    inf = math.inf
    assert same_result(0.1 + 0.2, 0.3, 1e-9)
    assert same_result([1000001], [1e6], 1e-5)
    for result, expected in ((1000001, 1000000), (1000000.5, 1000000), (10**400, 1e300), (inf, 1e308), (1e308, inf)):
        assert not same_result(result, expected, 1e-5)
    assert same_result(inf, inf, 1e-5)


@given(st.from_regex(r"[+-]?[0-9]{0,4}(\.[0-9]{0,4})?([eE][+-]?[0-9]{1,2})?", fullmatch=True), st.integers(-50, 50))
@settings(max_examples=500, deadline=None)
def test_decimals_are_equal_exactly_if_their_values_are(token: str, shift: int) -> None:
    if (value := decimal_value(token)) is None:
        assert not any(c.isdigit() for c in token.lower().split("e")[0])
        return
    exact = Context(prec=300)
    same = f"{Decimal(token).scaleb(shift, exact)}e{-shift}"
    if "E" not in same:
        assert decimal_value(same) == value
    assert decimal_value(f"{Decimal(token):f}") == value
    assert decimal_value(f"{exact.add(Decimal(token), 1):f}") != value


NAN = float("nan")


@pytest.mark.parametrize(
    ("result", "expected", "same"),
    [
        (None, None, True),
        (None, 0, False),
        (None, False, False),
        (0, None, False),
        (True, 1, True),
        (1, True, True),
        (1.0, 1, True),
        (0, False, True),
        (2, True, False),
        ("1", 1, False),
        ("a", "a", True),
        ("\ud800", "\ud800", True),
        (NAN, NAN, False),
        ([NAN], [NAN], False),
        (float("inf"), float("inf"), True),
        (10**400, 10**400, True),
        (10**400, 10**400 + 1, False),
        (2**64, float(2**64), True),
        (10**400, float("inf"), False),
        (0.1 + 0.2, 0.3, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ((1, 2), [1, 2], True),
        ([1, 2], (1, 2), True),
        ((1, 2), (1, 2), True),
        ([(1, 2)], [[1, 2]], False),
        ([(1, 2)], [(1, 2)], True),
        ([[1, 2]], [(1, 2)], False),
        ([], {}, False),
        ([], None, False),
        ({}, {}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({1: 2}, {"1": 2}, False),
        ({1: 2}, {1.0: 2}, True),
        ({(1, 2): [3]}, {(1, 2): [3]}, True),
        ({None: 1}, {None: 1}, True),
        ({1, 2}, {2, 1}, True),
        ({1, 2}, [1, 2], False),
        ({1, 2}, {1, 3}, False),
        ({True}, {1}, True),
        (frozenset({1}), {1}, True),
        (set(), set(), True),
        ({(1, "a")}, {(1, "a")}, True),
        (object(), None, False),
        (b"x", "x", False),
        (1j, 1, False),
        (range(3), [0, 1, 2], False),
        ({"t": [1]}, [1], False),
        ({"t": [1]}, {"t": [1]}, True),
        ({"i": "1"}, {"i": "1"}, True),
    ],
)
def test_results(result: Any, expected: Any, same: bool) -> None:
    assert same_result(parse_result(encode(result).encode()), expected) is same


@pytest.mark.parametrize("text", ['{"s":[1,1]}', '{"s":[1,true]}', '{"d":[[1,2],[1,2]]}', '{"d":[[1]]}', '{"d":[1]}'])
def test_a_claimed_set_or_dict_cannot_count_an_element_twice(text: str) -> None:
    result = parse_result(text.encode())
    assert not same_result(result, {1, 2})
    assert not same_result(result, {1: 2, 3: 4})
    assert not same_result(result, {1})


@pytest.mark.parametrize(
    "text",
    ["", "[", "1 2", "x", "[" * 10**5, "9" * 5000, "1" * 2000 + ".5", "\x00", '{"i"}', "'a'", "é"],
)
def test_what_no_harness_sends_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        parse_result(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '{"s":[{"i":"zz"}]}',
        '{"s":[NaN]}',
        '{"s":[{"t":[NaN]}]}',
        '{"s":[{"t":[{"i":"zz"}]}]}',
        "{}",
        '{"i":5}',
        '{"i":"z"}',
        '{"t":5}',
        '{"s":5}',
        '{"d":5}',
        '{"q":[]}',
        '{"t":[1],"s":[1]}',
        '{"s":[[1]]}',
    ],
)
def test_claims_with_odd_tags_equal_nothing(text: str) -> None:
    result = parse_result(text.encode())
    for expected in (
        [],
        [1],
        (1,),
        {1},
        {1: 1},
        None,
        5,
        "z",
        {},
        set(),
        {math.nan},
        {(math.nan,)},
        {json.loads("NaN")},
    ):
        assert not same_result(result, expected)


@pytest.mark.parametrize("size", [1, 1000, 100_000])
@pytest.mark.parametrize("unit", [b"[],", b"{},", b"0,"])
def test_claims_that_would_take_much_memory_are_refused_before_they_are_parsed(unit: bytes, size: int) -> None:
    assert not may_be_equal(b"[" + 64 * size * unit, encode("x" * size).encode())
    assert not may_be_equal(b"[" + 64 * size * unit, encode(list(range(size))).encode())


def test_colliding_hashes_do_not_slow_the_comparison() -> None:
    prime = (1 << 61) - 1
    text = json.dumps({"s": [prime * i for i in range(1, 200_001)]})
    assert not same_result(parse_result(text.encode()), set(range(200_000)))


def test_long_digits_in_a_string_are_no_number() -> None:
    assert same_result(parse_result(b'"' + b"9" * 5000 + b'"'), "9" * 5000)


atoms = st.none() | st.booleans() | st.integers() | st.integers(10**20, 10**40) | st.floats() | st.text(max_size=5)
keys = st.integers() | st.text(max_size=3) | st.tuples(st.integers(), st.text(max_size=2)) | st.none()
values = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.sets(keys, max_size=3)
    ),
    max_leaves=8,
)


def plain_equal(a: Any, b: Any) -> bool:
    """Python's equality, but for NaN, which is never equal to itself here (`==` of lists looks at identity first)."""
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(plain_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(plain_equal(a[k], b[k]) for k in a)
    return not (isinstance(a, float) and math.isnan(a)) and bool(a == b)


@given(values, values)
@settings(max_examples=1000, deadline=None)
def test_results_compare_as_python_does(a: Any, b: Any) -> None:
    for result, expected in ((a, b), (a, a), (b, a)):
        if not may_be_equal(encode(result).encode(), encode(expected).encode()):
            assert not plain_equal(result, expected)
        top = list(result) if isinstance(result, tuple) else result
        wanted = plain_equal(top, list(expected) if isinstance(expected, tuple) else expected)
        assert same_result(parse_result(encode(result).encode()), expected) is wanted


@given(values)
@settings(max_examples=500, deadline=None)
def test_decoding_is_the_inverse_of_encoding(value: Any) -> None:
    assert repr(decode(encode(value))) == repr(value) or plain_equal(decode(encode(value)), value)


def test_values_that_cannot_be_encoded() -> None:
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match="64 levels"):
        encode(deep)
    with pytest.raises(TooLarge):
        encode([[0] * 1_000_000] * 5)
    assert isinstance(decode(encode(object())), Opaque)
