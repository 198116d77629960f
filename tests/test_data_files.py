"""Data files of every format are read alike, and bad rows are named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from vpo_envs.data_files import Record, file_rows, hub_rows, load_problems

ROWS = [{"text": "a"}, {"text": "b\u2028c"}, {"text": "é e\u0301 😀 שלום"}]


def parse(row: Any) -> str:
    return Record(row).text("text")


def lines(separator: str = "\n", rows: list[Any] = ROWS) -> bytes:
    return separator.join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


@pytest.mark.parametrize(
    "content",
    [
        lines(),
        lines("\r\n"),
        lines("\r"),
        b"\xef\xbb\xbf" + lines(),
        b"\n\n  \n" + lines("\n\r\n"),
        json.dumps(ROWS).encode(),
        b"\xef\xbb\xbf" + json.dumps(ROWS, indent=2).encode(),
        gzip.compress(lines(), mtime=0),
        gzip.compress(json.dumps(ROWS).encode(), mtime=0),
    ],
)
def test_formats_are_told_apart_by_content(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(content)
    assert load_problems(path, file_rows(path), parse) == [row["text"] for row in ROWS]


def test_parquet_is_read_like_json_lines(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(ROWS * 200), path)
    assert load_problems(path, file_rows(path), parse) == [row["text"] for row in ROWS] * 200


def test_numbers_are_those_of_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"text": "a"}\r\r\n\n{"text": 1}\n{"text": "b"}\r{"other": 1}')
    with pytest.raises(ValueError, match=r"rows.jsonl: 2 bad") as error:
        load_problems(path, file_rows(path), parse)
    assert "row 4: field 'text' must be a string, got 1" in str(error.value)
    assert "row 6: field 'text' is missing" in str(error.value)


CORRUPT = gzip.compress(lines(rows=[{"text": str(i**5)} for i in range(999)]), mtime=0)
CORRUPT = CORRUPT[:200] + bytes(255 - b for b in CORRUPT[200:260]) + CORRUPT[260:]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("x.parquet", b'{"text": "a"}', "not a parquet file"),
        ("x.parquet", b"PAR1 and nothing else", "cannot be read"),
        ("x.jsonl.gz", gzip.compress(lines(), mtime=0)[:-9], "cannot be read"),
        ("x.jsonl.gz", CORRUPT, "cannot be read"),
        ("x.parquet.gz", gzip.compress(b"PAR1" + lines(), mtime=0), "a compressed parquet file"),
        ("x.json", b'[{"text": "a"}', "not JSON in UTF-8"),
        ("x.json", b"[" * 50_000, "not JSON in UTF-8"),
        ("x.jsonl", b"", "no rows; a row is THIS"),
        ("x.json", b"[]", "no rows; a row is THIS"),
        ("x.jsonl", b"\x89PNG\r\n", r"2 bad row\(s\) of 2|1 bad row\(s\) of 1"),
    ],
)
def test_a_file_that_is_something_else_is_refused(name: str, content: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=complaint) as error:
        load_problems(path, file_rows(path), parse, expected="THIS")
    assert str(path) in str(error.value)


def test_skipping_reports_every_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines() + b'\n{"text": 3}\n{"text": "a"\n')
    with pytest.warns(UserWarning, match=r"skipped 2 bad row\(s\) of 5[\s\S]*row 4: [\s\S]*row 5: "):
        assert len(load_problems(path, file_rows(path), parse, skip_bad_rows=True)) == 3
    path.write_bytes(b'{"text": 3}')
    with pytest.raises(ValueError, match="all 1 rows are bad"):
        load_problems(path, file_rows(path), parse, skip_bad_rows=True)


@pytest.mark.parametrize(
    ("read", "row", "complaint"),
    [
        (lambda r: r.text("x"), {}, "field 'x' is missing"),
        (lambda r: r.text("x"), {"x": None}, "field 'x' must be a string, got null"),
        (lambda r: r.text("x"), {"x": " \n"}, "field 'x' is empty"),
        (lambda r: r.text("x"), {"x": "\ud83d"}, "field 'x' is no valid Unicode: half a surrogate pair at 0"),
        (lambda r: r.texts("x"), {"x": ["a", 1]}, r"field 'x\[1\]' must be a string, got 1"),
        (lambda r: r.texts("x"), {"x": "a"}, "field 'x' must be a list, got a string"),
        (lambda r: r.whole("x"), {"x": True}, "field 'x' must be a whole number, got true"),
        (lambda r: r.whole("x"), {"x": 2.0}, "field 'x' must be a whole number, got 2.0"),
        (lambda r: r.flag("x"), {"x": 1}, "field 'x' must be true or false, got 1"),
        (lambda r: r.record("x"), {"x": []}, "field 'x' must be an object, got a list"),
        (lambda r: r.records("x")[1].whole("y"), {"x": [{}, {"y": "1"}]}, r"field 'x\[1\].y' must be a whole"),
        (lambda r: r.records("x"), {"x": [{}, 0]}, r"field 'x\[1\]' must be an object, got 0"),
        (lambda r: Record(3), {}, "a row must be an object, got 3"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(read: Any, row: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read(Record(row))


def test_the_hub_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    asked: list[Any] = []

    def load(name: str, config: str | None, split: str) -> Any:
        asked.append((name, config, split))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert load_problems("hub", hub_rows("me/data", "train"), parse) == [row["text"] for row in ROWS]
    assert asked == [("me/data", None, "train")]


def test_an_unreachable_hub_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    def load(*_: Any, **__: Any) -> Any:
        raise ConnectionError("no route to host\nlong trace")

    monkeypatch.setattr(datasets, "load_dataset", load)
    with pytest.raises(ValueError, match=r"cannot load me/data \(train\) from the hub: no route to host; or download"):
        list(hub_rows("me/data", "train"))


def test_values_that_parquet_cannot_turn_into_python_are_an_error_of_the_file(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"text": pyarrow.array([2**62], pyarrow.timestamp("us"))}), path)
    with pytest.raises(ValueError, match=r"rows.parquet: cannot be read \("):
        load_problems(path, file_rows(path), parse)
