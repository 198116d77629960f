"""Mazes from files: good ones are read as written, bad ones are refused with file, row and field."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium as gym
import pytest

import vpo_envs  # noqa: F401
from vpo_envs.maze import MazeTask
from vpo_envs.maze.problems import load_mazes

GOOD = {"grid": "S . #\n. G E", "max_steps": 5}


def write(path: Path, *rows: object) -> str:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def test_a_good_file_round_trips(tmp_path):
    generated = MazeTask(num_problems=5)
    mazes = [generated[i] for i in range(5)]
    rows = [{"grid": "\n".join(" ".join(row) for row in m.rows), "max_steps": m.max_steps} for m in mazes]
    path = write(tmp_path / "mazes.jsonl", *rows)
    for split in ("train", "test"):
        task = MazeTask(split, data=path)
        assert [task[i] for i in range(len(task))] == mazes
    assert len(MazeTask(data=path, num_problems=2)) == 2
    with pytest.raises(IndexError):
        MazeTask(data=path)[5]


def test_a_file_is_played_like_generated_mazes(tmp_path):
    env = gym.make("vpo/Maze-v0", data=write(tmp_path / "one.jsonl", GOOD))
    prompt, _ = env.reset(seed=1)
    assert "S . #\n. G E" in prompt
    _, reward, *_ = env.step("<answer>DOWN RIGHT RIGHT</answer>")
    assert reward.tolist() == [1, 1, 1, 1]


def test_tiles_may_stand_close_together_and_grids_need_not_be_square(tmp_path):
    [maze] = load_mazes(write(tmp_path / "close.jsonl", {"grid": "S.#\n.GE\n", "max_steps": 5}))
    assert maze.rows == ("S.#", ".GE")
    assert (maze.height, maze.width) == (2, 3)


def test_byte_order_mark_carriage_returns_and_blank_lines_are_no_fault(tmp_path):
    path = tmp_path / "windows.jsonl"
    row = json.dumps({"grid": "S . #\r\n. G E", "max_steps": 5}).encode()
    path.write_bytes(b"\xef\xbb\xbf" + row + b"\r\n\r\n" + row + b"\r\n")
    assert [m.rows for m in load_mazes(path)] == [("S.#", ".GE")] * 2


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"grid": "S . #\n. E", "max_steps": 5}, "field 'grid': line 2 has 2 tiles, line 1 has 3"),
        ({"grid": "S . E\n\n. . .", "max_steps": 5}, "field 'grid': line 2 has 0 tiles, line 1 has 3"),
        ({"grid": "S x E", "max_steps": 5}, "field 'grid': line 1, tile 2 is 'x'; tiles are S start"),
        ({"grid": ". . E", "max_steps": 5}, "field 'grid' needs exactly one S (start), has 0"),
        ({"grid": "S . .", "max_steps": 5}, "field 'grid' needs exactly one E (exit), has 0"),
        ({"grid": "S S E", "max_steps": 5}, "field 'grid' needs exactly one S (start), has 2"),
        ({"grid": " \n", "max_steps": 5}, "field 'grid' is empty"),
        ({"grid": ["S", "E"], "max_steps": 5}, "field 'grid' must be a string, got a list"),
        ({"grid": "S E", "max_steps": 0}, "field 'max_steps' must be at least 1, got 0"),
        ({"grid": "S E", "max_steps": -3}, "field 'max_steps' must be at least 1, got -3"),
        ({"grid": "S E", "max_steps": 1_000_001}, "field 'max_steps' must be at most 1,000,000, got 1000001"),
        ({"grid": "S E", "max_steps": 2.5}, "field 'max_steps' must be a whole number, got 2.5"),
        ({"grid": "S E", "max_steps": True}, "field 'max_steps' must be a whole number, got true"),
        ({"grid": "S E", "max_steps": None}, "field 'max_steps' must be a whole number, got null"),
        ({"grid": "S E"}, "field 'max_steps' is missing"),
        ({"max_steps": 5}, "field 'grid' is missing"),
        ([1, 2], "a row must be an object, got a list"),
        ('{"grid": "S E", "max_steps": 5', "not a line of JSON in UTF-8"),
        ("[" * 50_000, "not a line of JSON in UTF-8"),
    ],
)
def test_a_bad_row_is_named_with_file_row_and_field(tmp_path, row, complaint):
    path = write(tmp_path / "bad.jsonl", GOOD, row, GOOD)
    with pytest.raises(ValueError, match="bad row") as error:
        MazeTask(data=path)
    assert f"{path}: 1 bad row(s)" in str(error.value)
    assert f"row 2: {complaint}" in str(error.value)


def test_text_that_is_not_utf8_is_named_with_its_row(tmp_path):
    path = tmp_path / "latin.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n\xff\xfe")
    with pytest.raises(ValueError, match=r"latin.jsonl: 1 bad row[\s\S]*row 2: not a line of JSON in UTF-8"):
        load_mazes(path)


def test_all_bad_rows_are_counted_and_the_first_ten_shown(tmp_path):
    path = write(tmp_path / "bad.jsonl", *[GOOD, {"grid": "S E", "max_steps": 0}] * 12)
    with pytest.raises(ValueError, match=r"12 bad row\(s\) of 24, nothing was loaded") as error:
        load_mazes(path)
    assert str(error.value).count("field 'max_steps'") == 10
    assert "row 2:" in str(error.value)


def test_bad_rows_may_be_skipped_with_a_warning(tmp_path):
    path = write(tmp_path / "some.jsonl", GOOD, {"grid": "S E", "max_steps": 0}, GOOD)
    with pytest.warns(UserWarning, match=r"some.jsonl: skipped 1 bad row\(s\) of 3[\s\S]*row 2: field 'max_steps'"):
        task = MazeTask(data=path, skip_bad_rows=True)
    assert len(task) == 2


def test_empty_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match=r"empty.jsonl: no rows; a row is"):
        load_mazes(write(tmp_path / "empty.jsonl"))
    with pytest.raises(FileNotFoundError, match=r"nowhere.jsonl does not exist"):
        gym.make("vpo/Maze-v0", data=str(tmp_path / "nowhere.jsonl"))
