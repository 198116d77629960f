"""Private tests are unpacked without unpickling: what is hostile, cut off or too large is an error, never a test."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest
from code_helpers import pack_bytes, packed, stdin_case, stdin_row, write_rows

from vpo_envs.code import CodeTask, private_tests
from vpo_envs.code.private_tests import unpack_text

GOOD = [stdin_case("1", "2")]


class Touch:
    """Unpickled it would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_malicious_pickle_is_an_error_that_names_the_problem_and_runs_nothing(tmp_path):
    made = tmp_path / "made"
    for protocol in range(6):
        evil = pack_bytes(pickle.dumps(Touch(made), protocol))
        path = write_rows(tmp_path / "evil.jsonl", stdin_row(private_test_cases=evil))
        with pytest.raises(
            ValueError, match=r"row 1: problem abc001_a: field 'private_test_cases' is a pickle of some"
        ):
            CodeTask(data=path)
    assert not made.exists()


def test_a_bomb_is_an_error_that_names_the_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(private_tests, "MAX_BYTES", 1 << 16)
    bomb = pack_bytes(bytes(10 << 20))
    assert len(bomb) < 20_000
    path = write_rows(tmp_path / "bomb.jsonl", stdin_row(private_test_cases=bomb))
    with pytest.raises(ValueError, match=r"problem abc001_a: field 'private_test_cases' is larger than 65536 bytes"):
        CodeTask(data=path)
    assert unpack_text(packed("x" * 60_000)) == json.dumps("x" * 60_000)


PICKLED = pickle.dumps(json.dumps(GOOD))
TWICE = PICKLED[:-1] + PICKLED[2:]  # two texts before the end


@pytest.mark.parametrize(
    ("private", "complaint"),
    [
        (packed(GOOD)[:-5], "is no valid base64"),
        (packed(GOOD)[:-8], "is cut off"),
        (base64.b64encode(base64.b64decode(packed(GOOD))[:-1]).decode(), "is cut off"),
        (packed(GOOD) + "AAAA", "base64|something after"),
        (packed(GOOD)[:20] + "!" + packed(GOOD)[21:], "is no valid base64"),
        ("é" + packed(GOOD), "is no valid base64"),
        ("none", "is not zlib-compressed"),
        (base64.b64encode(PICKLED).decode(), "is not zlib-compressed"),
        (base64.b64encode(zlib.compress(PICKLED) + b"more").decode(), "has something after its compressed part"),
        (pack_bytes(b""), "is no valid pickle"),
        (pack_bytes(PICKLED[:-1]), "is no valid pickle"),
        (pack_bytes(PICKLED + b"x"), "is a pickle of something else than one text"),
        (pack_bytes(TWICE), "is a pickle of something else than one text"),
        (pack_bytes(pickle.dumps(GOOD)), r"is a pickle of something else than one text \(opcode EMPTY_LIST\)"),
        (pack_bytes(pickle.dumps(b"[]")), r"is a pickle of something else than one text \(opcode"),
        (pack_bytes(b"\x80\x04" + b"\x94" * 10**6 + b"."), "is a pickle of something else than one text"),
        (pack_bytes(b"\x80\x04\x8c\x01\xff."), "is no valid pickle .*decode"),
        (pack_bytes(b"\x80\x04\x8d" + b"\xff" * 8 + b"x."), "is no valid pickle"),
        (pack_bytes(pickle.dumps("not JSON")), "is no valid JSON"),
        (packed({"input": "1"}), "must be a list, got an object"),
        (packed([stdin_case("1", "2") | {"output": 3}]), r"\[0\].output' must be a string, got 3"),
    ],
)
def test_what_cannot_be_unpacked_is_an_error_that_names_the_problem(tmp_path, private, complaint):
    path = write_rows(tmp_path / "bad.jsonl", stdin_row(), stdin_row(question_id="bad", private_test_cases=private))
    with pytest.raises(ValueError, match=rf"row 2: problem bad: field 'private_test_cases.*({complaint})"):
        CodeTask(data=path)
    with pytest.warns(UserWarning, match="skipped 1 bad row"):
        assert [p.name for p in [CodeTask(data=path, skip_bad_rows=True)[0]]] == ["abc001_a"]


def test_large_texts_are_read_in_linear_memory():
    text = json.dumps("x" * (1 << 22))
    assert unpack_text(pack_bytes(pickle.dumps(text))) == text
