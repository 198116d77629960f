"""Reading the rows of a data set: JSON lines, a JSON array, parquet, or the hub; plain or gzip-compressed.

A file is read row by row, and each row is turned into a problem at once, so that nothing but the problems is kept. Bad
rows are collected: one error names the file, the rows and their fields, and nothing is half-loaded.
"""

from __future__ import annotations

import gzip
import json
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ProblemT = TypeVar("ProblemT")
SHOWN_FAULTS = 10
INSTALL = 'pip install "vpo-envs[data]"'


@dataclass(frozen=True)
class Unreadable:
    """A row that could not even be read, and why."""

    reason: str


NumberedRow = tuple[int, Any]  # number from 1 (of the line, or of the row), and what stands there


def load_problems(
    where: str | Path,
    rows: Iterable[NumberedRow],
    parse: Callable[[Any], ProblemT],
    skip_bad_rows: bool = False,
    expected: str = "",
) -> list[ProblemT]:
    """Parse every row into a problem. `parse` raises ValueError, naming the field, for a row that is bad.

    Args:
        where: the file, for messages.
        rows: from `file_rows` or `hub_rows`.
        skip_bad_rows: leave bad rows out and warn (UserWarning with the same list of faults) instead of raising.
        expected: what a good row looks like, for the message about a file without any.

    Raises:
        ValueError: there are bad rows (one error lists them, the first ten in words, and counts all), or none is good.
    """
    problems: list[ProblemT] = []
    faults: list[str] = []
    bad = total = 0
    for number, row in rows:
        total += 1
        try:
            if isinstance(row, Unreadable):
                raise ValueError(row.reason)
            problems.append(parse(row))
        except ValueError as error:
            bad += 1
            if bad <= SHOWN_FAULTS:
                faults.append(f"row {number}: {error}")
    shown = "\n  ".join(faults) + ("\n  ..." if bad > SHOWN_FAULTS else "")
    hint = f"; a row is {expected}" if expected else ""
    if bad and not skip_bad_rows:
        remedy = f" (skip_bad_rows=True leaves them out){hint if bad == total else ''}"
        raise ValueError(f"{where}: {bad} bad row(s) of {total}, nothing was loaded{remedy}\n  {shown}")
    if not problems:
        reason = f"all {bad} rows are bad" if bad else "no rows"
        raise ValueError(f"{where}: {reason}{hint}" + (f"\n  {shown}" if bad else ""))
    if bad:
        warnings.warn(f"{where}: skipped {bad} bad row(s) of {total}\n  {shown}", UserWarning, stacklevel=3)
    return problems


def file_rows(path: str | Path) -> Iterator[NumberedRow]:
    """The rows of a file: parquet, a JSON array, or JSON lines, told apart by their first bytes.

    Raises:
        FileNotFoundError: no such file.
        ImportError: a parquet file, and pyarrow is not installed.
        ValueError: the file as a whole cannot be read.
    """
    path = Path(path)
    try:
        yield from _rows(path)
    except (FileNotFoundError, ImportError):
        raise
    except Exception as error:  # of the file system, of gzip and of pyarrow: a dozen kinds
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(reason if str(path) in reason else f"{path}: cannot be read ({reason})") from error


def _rows(path: Path) -> Iterator[NumberedRow]:
    if not path.is_file():
        raise FileNotFoundError(f"data file {path} does not exist")
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PAR1":
        yield from _parquet_rows(path)
        return
    if path.suffix == ".parquet":
        raise ValueError(f"{path}: not a parquet file (it does not begin with PAR1)")
    opener: Any = gzip.open if start[:2] == b"\x1f\x8b" else open
    with opener(path, "rb") as file:
        first = file.readline().removeprefix(BOM_UTF8)
        while first and not first.strip():
            first = file.readline()
    if first.startswith(b"PAR1"):
        raise ValueError(f"{path}: a compressed parquet file; decompress it first")
    with opener(path, "rb") as file:
        # A line of JSON lines is an object; only a file that is one array begins with a bracket.
        yield from _array_rows(path, file.read()) if first.lstrip().startswith(b"[") else _json_lines(file)


def _json_lines(file: Iterable[bytes]) -> Iterator[NumberedRow]:
    number = 0
    for chunk in file:
        # A chunk ends with a line feed; within it a carriage return ends a line too. Bytes, so that a line that is not
        # UTF-8 is a fault of that line only, and so that Unicode's own line separators may stand inside a text.
        for line in chunk.splitlines():
            number += 1
            line = line.removeprefix(BOM_UTF8) if number == 1 else line
            if line.strip():
                yield number, _parse_json(line)


def _parse_json(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        return Unreadable(f"not a line of JSON in UTF-8 ({error})")


def _array_rows(path: Path, content: bytes) -> Iterator[NumberedRow]:
    rows = _parse_json(content.removeprefix(BOM_UTF8))
    if isinstance(rows, Unreadable):
        raise ValueError(f"{path}: {rows.reason.replace('a line of ', '')}")
    yield from enumerate(rows, start=1)


def _parquet_rows(path: Path) -> Iterator[NumberedRow]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"{path}: parquet files need pyarrow: {INSTALL}") from error
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        number = 0
        for batch in file.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield number, row


def hub_rows(name: str, split: str, config: str | None = None, files: str | None = None) -> Iterator[NumberedRow]:
    """The rows of a split of a data set on the hub, through `datasets` (which keeps them on disk, memory-mapped).

    `files`: the JSON-lines files to read, a pattern such as "test*.jsonl", of a data set that has a loading script,
    which `datasets` no longer runs; the split is then "train".

    Raises:
        ImportError: `datasets` is not installed.
        ValueError: the data set cannot be loaded.
    """
    try:
        import datasets
    except ImportError as error:
        raise ImportError(f"data='hub' needs the package datasets: {INSTALL}") from error
    try:
        if files is None:
            rows = datasets.load_dataset(name, config, split=split)
        else:
            rows = datasets.load_dataset("json", config, split=split, data_files=f"hf://datasets/{name}/{files}")
    except Exception as error:  # the libraries below raise dozens of kinds
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"cannot load {name} ({split}) from the hub: {reason}; or download the file and name it: data=PATH"
        ) from error
    yield from enumerate(rows, start=1)


class Record:
    """A row, or an object in one, whose fields are read with their type checked.

    Every method raises ValueError, with the whole name of the field ("paragraphs[3].title"), where the field is
    missing or not of that type.
    """

    def __init__(self, value: Any, place: str = "") -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{_field(place)} must be an object, got {_shown(value)}")
        self._value, self._place = value, place

    def name(self, field: str) -> str:
        """The whole name of a field, for messages."""
        return f"{self._place}.{field}" if self._place else field

    def error(self, field: str, problem: str) -> ValueError:
        """A ValueError about a field: `raise record.error("idx", "is given twice")`."""
        return ValueError(f"field '{self.name(field)}' {problem}")

    def has(self, field: str) -> bool:
        """Whether the field is there and not null."""
        return self._value.get(field) is not None

    def value(self, field: str) -> Any:
        """Whatever stands there, null included."""
        if field not in self._value:
            raise self.error(field, "is missing")
        return self._value[field]

    def text(self, field: str, empty: bool = False) -> str:
        """A string of valid Unicode; blank ones only with `empty`."""
        return _text(self.value(field), self.name(field), empty)

    def texts(self, field: str, empty: bool = False) -> list[str]:
        """A list of such strings."""
        return [_text(v, f"{self.name(field)}[{i}]", empty) for i, v in enumerate(self._items(field))]

    def whole(self, field: str) -> int:
        """A whole number."""
        value = self.value(field)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(field, f"must be a whole number, got {_shown(value)}")
        return value

    def flag(self, field: str) -> bool:
        """True or false."""
        value = self.value(field)
        if not isinstance(value, bool):
            raise self.error(field, f"must be true or false, got {_shown(value)}")
        return value

    def record(self, field: str) -> Record:
        """An object."""
        return Record(self.value(field), self.name(field))

    def records(self, field: str) -> list[Record]:
        """A list of objects."""
        return [Record(v, f"{self.name(field)}[{i}]") for i, v in enumerate(self._items(field))]

    def _items(self, field: str) -> list[Any]:
        value = self.value(field)
        if not isinstance(value, list):
            raise self.error(field, f"must be a list, got {_shown(value)}")
        return value


def _field(place: str) -> str:
    return f"field '{place}'" if place else "a row"


def _text(value: Any, name: str, empty: bool) -> str:
    if not isinstance(value, str):
        raise ValueError(f"field '{name}' must be a string, got {_shown(value)}")
    if not empty and not value.strip():
        raise ValueError(f"field '{name}' is empty")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"field '{name}' is no valid Unicode: half a surrogate pair at {error.start}") from None
    return value


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    kinds: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)
