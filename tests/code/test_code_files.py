"""LiveCodeBench's files: both kinds of problems, both packings, the split by date, and what is refused."""

from __future__ import annotations

import copy
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from code_helpers import (
    LONGEST,
    SUM,
    all_problems,
    call_case,
    call_row,
    human_row,
    packed,
    stdin_case,
    stdin_row,
    write_rows,
)

from vpo_envs.code import CodeTask, problems
from vpo_envs.code.data_sets import HUB_FILES, HUB_NAME, split_of_date
from vpo_envs.code.livecodebench import PRELUDE
from vpo_envs.code.sandbox import CallTest, StdinTest


def parquet(path: Path, *rows: dict[str, Any]) -> str:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return str(path)


def test_a_row_of_each_kind_becomes_a_problem(tmp_path):
    stdin, call = all_problems(CodeTask(data=write_rows(tmp_path / "a.jsonl", stdin_row(), call_row())))
    assert stdin.name == "abc001_a"
    assert stdin.statement == "Sum\n\nPrint the sum of two numbers."
    assert stdin.tests == (StdinTest("1 2\n", "3\n"), StdinTest("-1 1\n", "0\n"), StdinTest("10 20\n", "30\n"))
    assert (stdin.entry_point, stdin.starter_code, stdin.date, stdin.num_tests) == (None, "", "2024-08-10", 3)
    assert call.entry_point == "longest"
    assert call.tests[0] == CallTest((["zzz"], "z"), ["zzz", 3])
    assert call.starter_code == call_row()["starter_code"]
    assert stdin.prelude == call.prelude == PRELUDE


def twenty_rows() -> list[dict[str, Any]]:
    """Ten problems of each kind, whose tests are packed in one way or the other."""
    rows = []
    for i in range(10):
        cases = [stdin_case(f"{a} {i}\n", f"{a + i}\n") for a in range(5)]
        packing = packed if i % 2 else json.dumps
        rows.append(stdin_row(question_id=f"sum_{i}", private_test_cases=packing(cases)))
        calls = [call_case(["a" * n, n], ["a" * n, "a"], "a") for n in range(1, 5)]
        rows.append(call_row(question_id=f"longest_{i}", private_test_cases=packing(calls)))
    return rows


def test_twenty_problems_load_and_grade(tmp_path):
    task = CodeTask(data=write_rows(tmp_path / "lcb.jsonl", *twenty_rows()), workers=1)
    asked = all_problems(task)
    assert len(asked) == 20
    right = [SUM if p.entry_point is None else LONGEST for p in asked]
    wrong = [
        SUM.replace("a + b", "a + b if a else -1") if p.entry_point is None else LONGEST.replace("max", "min")
        for p in asked
    ]
    masks = [task.objective_mask(p) for p in asked]
    for reward, mask in zip(task.score_batch(asked, right), masks, strict=True):
        assert reward.tolist() == mask.astype(float).tolist()
    for problem, reward in zip(asked, task.score_batch(asked, wrong), strict=True):
        assert 0 < reward.sum() < problem.num_tests
    assert not task.score_batch(asked, ["print()"] * 20).any()


@pytest.mark.parametrize("protocol", range(6))
def test_private_tests_are_read_in_every_protocol(tmp_path, protocol):
    cases = [stdin_case(f"{'x' * 300} é \u2028\n", "👍🏽"), stdin_case("1", "2")]
    row = stdin_row(private_test_cases=packed(cases, protocol))
    [problem] = all_problems(CodeTask(data=write_rows(tmp_path / "p.jsonl", row)))
    assert problem.tests[-1] == StdinTest(cases[0]["input"], cases[0]["output"])


def test_the_smallest_tests_are_kept_and_what_is_dropped_is_counted(tmp_path, monkeypatch):
    cases = [stdin_case("9" * n, "") for n in (30, 5, 25, 7, *range(40, 60))]
    row = stdin_row(public_test_cases=json.dumps(cases[:2]), private_test_cases=packed(cases[2:]))
    path = write_rows(tmp_path / "many.jsonl", row, stdin_row())
    with pytest.warns(UserWarning, match=r"many.jsonl: 8 of 27 tests were left out: the 16 smallest"):
        many, few = all_problems(CodeTask(data=path))
    assert [len(test.input) for test in many.tests] == [5, 7, 25, 30, *range(40, 52)]
    assert (many.num_tests, many.dropped_tests, few.dropped_tests) == (16, 8, 0)
    monkeypatch.setattr(problems, "MAX_TEST_BYTES", 26)
    with pytest.warns(UserWarning, match="21 of 27"):
        assert CodeTask(data=path)[0].num_tests == 3
    monkeypatch.setattr(problems, "MAX_TEST_BYTES", 4)
    with pytest.raises(ValueError, match=r"row 1: problem abc001_a: .* there is no test of at most 4 bytes \(of 24\)"):
        CodeTask(data=path)


def test_size_is_counted_in_bytes_of_input_and_output(tmp_path):
    cases = [stdin_case("éé", "é"), stdin_case("aaaa", ""), stdin_case("", "aaaaa")]
    row = stdin_row(public_test_cases="[]", private_test_cases=json.dumps(cases))
    [problem] = all_problems(CodeTask(data=write_rows(tmp_path / "p.jsonl", row)))
    assert [test.input for test in problem.tests] == ["aaaa", "", "éé"]


def test_files_of_every_kind_hold_the_same_problems(tmp_path):
    rows = twenty_rows()
    expected = all_problems(CodeTask(data=write_rows(tmp_path / "a.jsonl", *rows)))
    dated = [row | {"contest_date": datetime(2024, 8, 10)} for row in rows]
    listed = [row | {"public_test_cases": json.loads(row["public_test_cases"])} for row in rows]
    files = [
        write_rows(tmp_path / "b.json", json.dumps(rows)),
        parquet(tmp_path / "c.parquet", *rows),
        parquet(tmp_path / "d.parquet", *dated),
        write_rows(tmp_path / "e.jsonl", *listed),
    ]
    for path in files:
        for split in ("train", "test"):
            assert all_problems(CodeTask(split, data=path)) == expected
    assert len(CodeTask(data=files[0], num_problems=3)) == 3
    with pytest.raises(IndexError):
        CodeTask(data=files[0])[20]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_endings_byte_order_marks_and_compression_are_no_fault(tmp_path, end):
    path = Path(write_rows(tmp_path / "rows.jsonl", stdin_row(), "", call_row(), end=end))
    content = b"\xef\xbb\xbf" + path.read_bytes() + b"\n" + json.dumps(human_row()).encode()
    path.write_bytes(content)
    assert [p.name for p in all_problems(CodeTask(data=str(path)))] == ["abc001_a", "3001", "HumanEval/900"]
    zipped = tmp_path / "rows.jsonl.gz"
    zipped.write_bytes(gzip.compress(content))
    assert all_problems(CodeTask(data=str(zipped))) == all_problems(CodeTask(data=str(path)))


@pytest.mark.parametrize(
    "text", ["naïve café", "cafe\u0301", "a\u2028b\u2029c\x85d", "👍🏽 👨‍👩‍👧", "שלום", "ﬁ １２", "\x00\x1f"]
)
def test_text_is_kept_as_it_is(tmp_path, text):
    row = stdin_row(question_title=text, question_content=text, private_test_cases=json.dumps([stdin_case(text, text)]))
    for path in (write_rows(tmp_path / "u.jsonl", row), parquet(tmp_path / "u.parquet", row)):
        [problem] = all_problems(CodeTask(data=path))
        assert problem.statement == f"{text}\n\n{text}"
        assert StdinTest(text, text) in problem.tests


# ---- the split --------------------------------------------------------------------------------------------------


def test_the_split_is_that_of_the_paper():
    dates = ["2023-05-01", "2025-01-31", "2025-02-01", "2025-04-30", "2025-05-01"]
    assert [split_of_date(date) for date in dates] == ["train", "train", "test", "test", None]


def test_a_folder_is_split_by_date_over_all_its_files(tmp_path):
    def dated(day: str) -> dict[str, Any]:
        return stdin_row(question_id=day, contest_date=f"{day}T00:00:00")

    write_rows(tmp_path / "test.jsonl", dated("2024-01-05"), dated("2025-01-31"))
    write_rows(tmp_path / "test2.jsonl", dated("2025-02-01"), dated("2023-12-31"), dated("2025-05-01"))
    write_rows(tmp_path / "test3.jsonl", dated("2025-04-30"))
    (tmp_path / "README.md").write_text("not data")
    train, test = (all_problems(CodeTask(split, data=str(tmp_path))) for split in ("train", "test"))
    assert [p.name for p in train] == ["2024-01-05", "2025-01-31", "2023-12-31"]
    assert [p.name for p in test] == ["2025-02-01", "2025-04-30"]


def test_a_folder_without_a_problem_of_the_split_or_without_data_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file that ends with .jsonl, .* in the folder"):
        CodeTask(data=str(tmp_path))
    write_rows(tmp_path / "a.jsonl", stdin_row())
    with pytest.raises(ValueError, match=r"no problem is of the test split \(contest_date from 2025-02-01 on"):
        CodeTask("test", data=str(tmp_path))


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (human_row(), "field 'contest_date' is missing: a folder is split by date; to use a file whole, name the file"),
        (stdin_row(contest_date=...), "field 'contest_date' is missing: a folder is split"),
        (stdin_row(contest_date="soon"), "field 'contest_date' does not begin with a date like 2024-08-10: 'soon'"),
        (stdin_row(contest_date=3), "field 'contest_date' must be a string, got 3"),
        ("{", "not a line of JSON"),
        ([1], "a row must be an object"),
    ],
)
def test_a_bad_row_in_a_folder_is_named_whatever_the_split(tmp_path, bad, complaint):
    bad = bad if isinstance(bad, str) else json.dumps(bad)
    for split, day in (("train", "2024-01-01"), ("test", "2025-03-01")):
        write_rows(tmp_path / "a.jsonl", stdin_row(contest_date=day), bad)
        with pytest.raises(ValueError, match=r"a\.jsonl: 1 bad row\(s\) of 2") as error:
            CodeTask(split, data=str(tmp_path))
        assert "row 2: " in str(error.value)
        assert complaint in str(error.value)


# ---- the hub ----------------------------------------------------------------------------------------------------


def test_the_hub_is_asked_for_the_files_of_all_releases(monkeypatch):
    datasets = pytest.importorskip("datasets")
    asked = []

    def load(*names: Any, **options: Any) -> Any:
        asked.append((names, options))
        return datasets.Dataset.from_list([stdin_row(), stdin_row(question_id="new", contest_date="2025-03-01")])

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert [p.name for p in all_problems(CodeTask("train", data="hub"))] == ["abc001_a"]
    assert [p.name for p in all_problems(CodeTask("test", data="hub"))] == ["new"]
    pattern = f"hf://datasets/{HUB_NAME}/{HUB_FILES}"
    assert asked == [(("json", None), {"split": "train", "data_files": pattern})] * 2


def test_a_hub_out_of_reach_is_one_error_that_says_what_to_do(monkeypatch):
    datasets = pytest.importorskip("datasets")

    def fail(*_: Any, **__: Any) -> Any:
        raise ConnectionError("no route to huggingface.co\nmany more lines")

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(ValueError, match=rf"cannot load {HUB_NAME} \(train\) from the hub: no route .*data=PATH$"):
        CodeTask(data="hub")


def test_datasets_reads_such_files(tmp_path):
    datasets = pytest.importorskip("datasets")
    write_rows(tmp_path / "test.jsonl", stdin_row())
    write_rows(tmp_path / "test2.jsonl", call_row())
    files = str(tmp_path / HUB_FILES)
    rows = datasets.load_dataset("json", split="train", data_files=files, cache_dir=str(tmp_path / "cache"))
    from vpo_envs.code.data_sets import parse_dated_row

    assert [parse_dated_row(row).name for row in rows] == ["abc001_a", "3001"]


# ---- what is refused --------------------------------------------------------------------------------------------


def with_cases(*cases: Any, row: Any = stdin_row) -> dict[str, Any]:
    return row(private_test_cases=json.dumps(list(cases)))


DEEP = "[" * 70 + "]" * 70
PRIVATE = "problem abc001_a: field 'private_test_cases"


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (stdin_row(question_content=...), "problem abc001_a: field 'question_content' is missing"),
        (stdin_row(question_content=" "), "problem abc001_a: field 'question_content' is empty"),
        (stdin_row(question_content=5), "problem abc001_a: field 'question_content' must be a string, got 5"),
        (stdin_row(question_content="a\ud800"), "problem abc001_a: field 'question_content' is no valid Unicode"),
        (stdin_row(question_id=...), "problem without question_id: field 'question_id' is missing"),
        (stdin_row(contest_date="10.8.2024"), "problem abc001_a: field 'contest_date' does not begin with a date"),
        (stdin_row(starter_code=1), "problem abc001_a: field 'starter_code' must be a string, got 1"),
        (stdin_row(public_test_cases=...), "problem abc001_a: field 'public_test_cases' is missing"),
        (stdin_row(public_test_cases=None), "problem abc001_a: field 'public_test_cases' must be a list, got null"),
        (stdin_row(public_test_cases="[1]"), "problem abc001_a: field 'public_test_cases[0]' must be an object, got 1"),
        (stdin_row(public_test_cases='[{"a": '), "problem abc001_a: field 'public_test_cases' is no valid JSON"),
        (stdin_row(private_test_cases="[" * 10**5), f"{PRIVATE}' is JSON that is nested too deeply"),
        (with_cases({"input": "", "output": ""}), f"{PRIVATE}[0].testtype' is missing"),
        (with_cases({"input": 1, "output": "", "testtype": "stdin"}), f"{PRIVATE}[0].input' must be a string, got 1"),
        (with_cases({"input": "", "testtype": "stdin"}), f"{PRIVATE}[0].output' is missing"),
        (with_cases(stdin_case("\ud800", "")), f"{PRIVATE}[0].input' is no valid Unicode"),
        (with_cases(stdin_case("", "") | {"testtype": "gui"}), "have testtype gui, stdin; known: stdin, functional"),
        (with_cases(call_case(1, 2)), "and private ones have both testtypes"),
        (stdin_row(public_test_cases="[]", private_test_cases="[]"), f"{PRIVATE}' there is no test"),
        (call_row(metadata="{}"), "problem 3001: field 'metadata.func_name' is missing"),
        (call_row(metadata="x"), "problem 3001: field 'metadata' is no valid JSON"),
        (call_row(metadata=...), "problem 3001: field 'metadata' is missing"),
        (call_row(metadata={"func_name": "a b"}), "field 'metadata.func_name' is no name of a function: 'a b'"),
        (with_cases(call_case(1) | {"output": "nan"}, row=call_row), "private_test_cases[0].output' is no valid JSON"),
        (with_cases(call_case(1) | {"output": "NaN"}, row=call_row), "output' is no valid JSON (NaN is no JSON)"),
        (with_cases(call_case(1) | {"output": ""}, row=call_row), "private_test_cases[0].output' is empty"),
        (with_cases(call_case(1) | {"input": "[1, 2"}, row=call_row), "private_test_cases[0].input' is no valid JSON"),
        (with_cases(call_case(1) | {"input": "9" * 5000}, row=call_row), "input' is no valid JSON"),
        (
            with_cases(call_case(1) | {"input": DEEP}, row=call_row),
            "private_test_cases[0].input' is no test: CallTest: arg",
        ),
        (
            with_cases(call_case(1) | {"output": DEEP}, row=call_row),
            "private_test_cases[0].output' is no test: CallTest: exp",
        ),
        ({"grid": "S . E", "max_steps": 5}, "a row of neither format; it is LiveCodeBench's {"),
        ([1], "a row must be an object, got a list"),
        ('{"question_id": ', "not a line of JSON in UTF-8"),
    ],
)
def test_a_bad_row_is_named_with_file_row_problem_and_field(tmp_path, bad, complaint):
    bad = bad if isinstance(bad, str) else json.dumps(bad)  # half a surrogate pair as an escape, which is valid JSON
    path = write_rows(tmp_path / "bad.jsonl", stdin_row(), bad, call_row(), bad)
    with pytest.raises(ValueError, match=r"2 bad row\(s\) of 4") as error:
        CodeTask(data=path)
    assert path in str(error.value)
    second, fourth = str(error.value).splitlines()[1:3]
    assert second.startswith("  row 2: ")
    assert complaint in second
    assert complaint in fourth
    with pytest.warns(UserWarning, match=r"skipped 2 bad row\(s\) of 4[\s\S]*row 2: "):
        assert len(CodeTask(data=path, skip_bad_rows=True)) == 2


def test_a_file_without_any_good_row_names_both_formats(tmp_path):
    both = r"a row is LiveCodeBench's {[\s\S]*or HumanEval's {"
    with pytest.raises(ValueError, match=rf"empty.jsonl: no rows; {both}"):
        CodeTask(data=write_rows(tmp_path / "empty.jsonl"))
    other = write_rows(tmp_path / "mazes.jsonl", {"grid": "S E", "max_steps": 2})
    with pytest.raises(ValueError, match=rf"1 bad row\(s\) of 1[\s\S]*{both}"):
        CodeTask(data=other)
    with pytest.raises(ValueError, match=r"mazes.jsonl: all 1 rows are bad"):
        CodeTask(data=other, skip_bad_rows=True)
    with pytest.raises(ValueError, match="not a parquet file"):
        CodeTask(data=write_rows(tmp_path / "text.parquet", stdin_row()))
    with pytest.raises(FileNotFoundError, match=r"nowhere.jsonl does not exist"):
        CodeTask(data=str(tmp_path / "nowhere.jsonl"))


def test_a_row_is_not_changed_by_reading_it(tmp_path):
    from vpo_envs.code.data_sets import parse_row

    row = call_row()
    before = copy.deepcopy(row)
    assert parse_row(row) == parse_row(row)
    assert row == before
