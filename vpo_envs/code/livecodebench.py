"""Rows of LiveCodeBench (Jain et al. 2024, arXiv 2403.07974): standard-input programs, and functions to be called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any, NoReturn

from vpo_envs.code.private_tests import unpack_text
from vpo_envs.code.problems import CodeProblem, keep_smallest
from vpo_envs.code.sandbox import CallTest, StdinTest
from vpo_envs.data_files import Record

FIELDS = ("question_content", "public_test_cases", "private_test_cases")
"""Any of them tells that a row is one of LiveCodeBench."""
ROW = (
    '{"question_id", "question_content", "contest_date", "public_test_cases", "private_test_cases", "starter_code", '
    '"metadata"}'
)
PRELUDE = (
    "import bisect, collections, copy, functools, heapq, itertools, math, operator, random, re, string, sys; "
    "from bisect import bisect_left, bisect_right, insort; "
    "from collections import Counter, OrderedDict, defaultdict, deque; "
    "from functools import cache, cmp_to_key, lru_cache, reduce; "
    "from heapq import heapify, heappop, heappush, heappushpop, heapreplace, nlargest, nsmallest; "
    "from itertools import accumulate, chain, combinations, groupby, pairwise, permutations, product; "
    "from math import ceil, comb, floor, gcd, inf, isqrt, lcm, log, log2, sqrt; "
    "from typing import Any, Dict, List, Optional, Set, Tuple, Union\n"
)
"""The site that its functions are from imports these, and its starter code relies on some of them. One line, so that
the lines of an error are the program's plus one."""


def parse_row(record: Record) -> CodeProblem:
    """One row. ValueError names the problem and the field."""
    try:
        return _problem(record)
    except ValueError as error:
        name = record.value("question_id") if record.has("question_id") else "without question_id"
        raise ValueError(f"problem {name}: {error}") from None


def date_of(record: Record) -> str:
    """The day of the contest, "2024-08-10"; in a parquet file it may be a time stamp."""
    value = record.value("contest_date")
    text = value.isoformat() if hasattr(value, "isoformat") else record.text("contest_date")
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        raise record.error("contest_date", f"does not begin with a date like 2024-08-10: {text[:40]!r}") from None


def _problem(record: Record) -> CodeProblem:
    public, private = (_test_cases(record, field) for field in ("public_test_cases", "private_test_cases"))
    cases = public + private
    kinds = {case.text("testtype") for case in cases}
    if not kinds <= {"stdin", "functional"}:
        raise record.error("public_test_cases", f"have testtype {', '.join(sorted(kinds))}; known: stdin, functional")
    if len(kinds) > 1:
        raise record.error("public_test_cases", "and private ones have both testtypes, stdin and functional")
    functional = kinds == {"functional"}
    sized = [(_size(case), (case, _call(case) if functional else _stdin_test(case))) for case in cases]
    try:
        kept = keep_smallest(sized)
    except ValueError as error:
        raise record.error("private_test_cases", str(error)) from None
    tests: Any = tuple(_call_test(case, test) if functional else test for case, test in kept)
    title = record.text("question_title", empty=True) if record.has("question_title") else ""
    content = record.text("question_content")
    return CodeProblem(
        name=record.text("question_id"),
        statement=f"{title}\n\n{content}" if title else content,
        tests=tests,
        entry_point=_function_name(record) if functional else None,
        starter_code=record.text("starter_code", empty=True) if record.has("starter_code") else "",
        date=date_of(record) if record.has("contest_date") else "",
        prelude=PRELUDE,
        dropped_tests=len(cases) - len(tests),
    )


def _test_cases(record: Record, field: str) -> list[Record]:
    """The test cases in a field: JSON text, or such text packed, or, in parquet files, possibly the list itself."""
    value = record.value(field)
    if isinstance(value, str):
        text = record.text(field)
        try:
            value = _json(text if text.lstrip()[:1] == "[" else unpack_text(text.strip()))
        except ValueError as error:
            raise record.error(field, str(error)) from None
    # A record of its own, so that faults are named "private_test_cases[3].input".
    return Record({field: value}).records(field)


def _size(case: Record) -> int:
    return sum(len(case.text(field, empty=True).encode()) for field in ("input", "output"))


def _stdin_test(case: Record) -> StdinTest:
    return StdinTest(case.text("input", empty=True), case.text("output", empty=True))


def _call(case: Record) -> tuple[tuple[Any, ...], Any]:
    """Arguments, one a line, and the result, each as JSON."""
    lines = [line for line in case.text("input", empty=True).split("\n") if line.strip()]
    return tuple(_values(case, "input", lines)), _values(case, "output", [case.text("output")])[0]


def _call_test(case: Record, call: Any) -> CallTest:
    try:
        return CallTest(*call)
    except ValueError as error:
        raise case.error("input" if "arguments" in str(error) else "output", f"is no test: {error}") from None


def _values(case: Record, field: str, texts: Sequence[str]) -> list[Any]:
    try:
        return [_json(text) for text in texts]
    except ValueError as error:
        raise case.error(field, str(error)) from None


def _function_name(record: Record) -> str:
    metadata = record.value("metadata")
    if isinstance(metadata, str):
        metadata = _values(record, "metadata", [metadata])[0]
    name = Record(metadata, "metadata").text("func_name")
    if not name.isidentifier():
        raise record.error("metadata.func_name", f"is no name of a function: {name[:40]!r}")
    return name


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("is JSON that is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is no valid JSON ({error})") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
