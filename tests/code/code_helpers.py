"""What the tests of the programming task share: rows of both data sets, and files of them."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

from vpo_envs.code import CodeProblem, CodeTask
from vpo_envs.code.sandbox import StdinTest

Case = dict[str, str]


def stdin_case(given: str, wanted: str) -> Case:
    return {"input": given, "output": wanted, "testtype": "stdin"}


def call_case(wanted: Any, *arguments: Any) -> Case:
    return {
        "input": "\n".join(map(json.dumps, arguments)),
        "output": json.dumps(wanted),
        "testtype": "functional",
    }


def packed(cases: Any, protocol: int | None = None) -> str:
    """The data set's own packing of private tests."""
    return pack_bytes(pickle.dumps(json.dumps(cases), protocol))


def pack_bytes(pickled: bytes) -> str:
    return base64.b64encode(zlib.compress(pickled)).decode()


def stdin_row(**changes: Any) -> dict[str, Any]:
    """Add two numbers. Field `x=...` changed; `x=...` (the ellipsis) leaves it out."""
    row = {
        "question_title": "Sum",
        "question_content": "Print the sum of two numbers.",
        "platform": "atcoder",
        "question_id": "abc001_a",
        "contest_id": "abc001",
        "contest_date": "2024-08-10T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([stdin_case("1 2\n", "3\n")]),
        "private_test_cases": packed([stdin_case("10 20\n", "30\n"), stdin_case("-1 1\n", "0\n")]),
        "metadata": "{}",
    } | changes
    return {field: value for field, value in row.items() if value is not ...}


def call_row(**changes: Any) -> dict[str, Any]:
    """The longest of some words, as a method."""
    return stdin_row(
        **{
            "question_title": "Longest word",
            "question_content": "Return the first of the longest words, and how often a letter is in it.",
            "platform": "leetcode",
            "question_id": "3001",
            "starter_code": "class Solution:\n    def longest(self, words: List[str], letter: str) -> List:\n        ",
            "public_test_cases": json.dumps([call_case(["abc", 1], ["a", "abc"], "b")]),
            "private_test_cases": packed([call_case(["x", 0], ["x", "y"], "y"), call_case(["zzz", 3], ["zzz"], "z")]),
            "metadata": json.dumps({"func_name": "longest"}),
        }
        | changes
    )


SUM = "a, b = map(int, input().split())\nprint(a + b)"
LONGEST = """\
class Solution:
    def longest(self, words: List[str], letter: str) -> List:
        word = max(words, key=len)
        return [word, word.count(letter)]
"""


def human_row(**changes: Any) -> dict[str, Any]:
    row = {
        "task_id": "HumanEval/900",
        "prompt": 'from typing import List\n\n\ndef total(xs: List[int]) -> int:\n    """The sum."""\n',
        "entry_point": "total",
        "canonical_solution": "    return sum(xs)\n",
        "test": (
            "METADATA = {}\n\n\ndef check(candidate):\n"
            "    assert candidate([]) == 0\n    assert candidate([1, 2]) == 3\n    assert candidate([5]) == 5\n"
        ),
    } | changes
    return {field: value for field, value in row.items() if value is not ...}


def write_rows(path: Path, *rows: object, end: str = "\n") -> str:
    """A JSON-lines file; strings go in as they are."""
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows]
    path.write_bytes(end.join(lines).encode("utf-8", "surrogatepass"))
    return str(path)


def all_problems(task: CodeTask) -> list[CodeProblem]:
    return [task[i] for i in range(len(task))]


def stdin_problem(*tests: tuple[str, str], **changes: Any) -> CodeProblem:
    """A problem with these (input, output) tests; by default the sum of two numbers, three tests."""
    chosen = tests or (("1 2", "3"), ("10 20", "30"), ("-1 1", "0"))
    return CodeProblem("sum", "Print the sum.", tuple(StdinTest(given, wanted) for given, wanted in chosen), **changes)
