"""Loading problems: from a file of either format, or a split by date of a folder or of the hub."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from vpo_envs.code import humaneval, livecodebench
from vpo_envs.code.problems import MAX_TEST_BYTES, MAX_TESTS, CodeProblem
from vpo_envs.data_files import NumberedRow, Record, Unreadable, file_rows, hub_rows, load_problems
from vpo_envs.task import Split

HUB_NAME, HUB_FILES = "livecodebench/code_generation_lite", "test*.jsonl"
"""LiveCodeBench on the hub, and its files there: test.jsonl, test2.jsonl ..., one for each release."""
ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".parquet")
FORMATS = f"LiveCodeBench's {livecodebench.ROW} or HumanEval's {humaneval.ROW}"
FIRST_TEST_DATE, END_DATE = "2025-02-01", "2025-05-01"
"""The split of arXiv 2605.22817: problems from the first date on, and before the second, are for testing."""
PERIODS = {
    "train": f"contest_date before {FIRST_TEST_DATE}",
    "test": f"contest_date from {FIRST_TEST_DATE} on and before {END_DATE}",
}


def load_code_problems(data: str, split: Split, skip_bad_rows: bool = False) -> list[CodeProblem]:
    """The problems of a file (all of them, for either split), or a split by date of a folder or of the hub ("hub").

    A UserWarning says how many tests were left out.

    Raises:
        FileNotFoundError: no such file or folder, or no data file in the folder.
        ValueError: the data cannot be read, has bad rows (one error names all of them), or none for the split.
        ImportError: a package for this kind of data is missing.
    """
    if data != "hub" and not Path(data).is_dir():
        problems = load_problems(data, file_rows(data), parse_row, skip_bad_rows, FORMATS)
    else:
        problems = []
        for where, rows in _sources(data):
            # A file may hold problems of the other split only, so the rows are looked at before they are loaded.
            of_split = _of_split(rows, split)
            if (first := next(of_split, None)) is not None:
                rows = chain([first], of_split)
                problems += load_problems(where, rows, parse_dated_row, skip_bad_rows, livecodebench.ROW)
        if not problems:
            raise ValueError(f"{data}: no problem is of the {split} split ({PERIODS[split]})")
    _warn_of_dropped_tests(data, problems)
    return problems


def _sources(data: str) -> list[tuple[str, Iterator[NumberedRow]]]:
    if data == "hub":
        return [(f"{HUB_NAME} ({HUB_FILES})", hub_rows(HUB_NAME, "train", files=HUB_FILES))]
    files = sorted(f for f in Path(data).iterdir() if f.name.endswith(ENDINGS) and f.is_file())
    if not files:
        raise FileNotFoundError(f"Code: there is no file that ends with {', '.join(ENDINGS)} in the folder {data}")
    return [(str(file), file_rows(file)) for file in files]


def parse_row(row: Any) -> CodeProblem:
    """One row of either data set, told apart by its fields. ValueError names the problem and the field."""
    record = Record(row)
    for fields, data_set in ((livecodebench.FIELDS, livecodebench), (humaneval.FIELDS, humaneval)):
        if any(name in row for name in fields):
            return data_set.parse_row(record)
    raise ValueError(f"a row of neither format; it is {FORMATS}")


def parse_dated_row(row: Any) -> CodeProblem:
    """A row of LiveCodeBench, the data set that is split by date."""
    record = Record(row)
    if "contest_date" not in row:
        raise record.error("contest_date", "is missing: a folder is split by date; to use a file whole, name the file")
    return livecodebench.parse_row(record)


def split_of_date(date: str) -> Split | None:
    """The split of a problem that was published on a date like "2024-08-10"; None for one after the test period."""
    if date < FIRST_TEST_DATE:
        return "train"
    return "test" if date < END_DATE else None


def _of_split(rows: Iterable[NumberedRow], split: Split) -> Iterator[NumberedRow]:
    """The rows of a split. Rows whose date cannot be read stay too, so that they are reported."""
    for number, row in rows:
        try:
            belongs = isinstance(row, Unreadable) or split_of_date(livecodebench.date_of(Record(row))) == split
        except ValueError:
            belongs = True
        if belongs:
            yield number, row


def _warn_of_dropped_tests(where: str, problems: Sequence[CodeProblem]) -> None:
    dropped = sum(problem.dropped_tests for problem in problems)
    if dropped:
        kept = sum(problem.num_tests for problem in problems)
        warnings.warn(
            f"{where}: {dropped} of {kept + dropped} tests were left out: the {MAX_TESTS} smallest of a problem are "
            f"kept, and none above {MAX_TEST_BYTES} bytes",
            UserWarning,
            stacklevel=4,
        )
