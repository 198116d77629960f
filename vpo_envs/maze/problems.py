"""Where mazes come from: generated from a seed, or read from a file."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from vpo_envs.maze.board import EXIT, START, TILES, Maze
from vpo_envs.maze.generator import ATTEMPTS, generate_maze, no_maze
from vpo_envs.task import Split

TEST_SHARE = 8  # one grid in so many belongs to the test split
MAX_STEPS = 1_000_000  # of a maze from a file; time and memory of a walk grow with it


def belongs_to(maze: Maze) -> Split:
    """The split of a grid. It is a function of the grid itself, so no maze is ever in both."""
    return "test" if crc32("\n".join(maze.rows).encode()) % TEST_SHARE == 0 else "train"


def generated_maze(split: Split, index: int, size: int, slack: int) -> Maze:
    """Maze `index` of a split: a pure function of its arguments.

    Raises:
        ValueError: there is no such maze (`generate_maze`), or none that belongs to the split.
    """
    # Seeding `Random` with a string hashes it with SHA-512, so it does not depend on PYTHONHASHSEED.
    rng = Random(f"vpo/Maze-v0 {split} {size} {slack} {index}")
    for _ in range(ATTEMPTS):
        maze = generate_maze(rng, size, slack)
        if belongs_to(maze) == split:
            return maze
    raise no_maze(size, slack)


def load_mazes(path: str | Path) -> list[Maze]:
    """Read a JSON-lines file of `{"grid": "S . #\\n. E .", "max_steps": 23}`.

    Raises:
        FileNotFoundError: no such file.
        ValueError: one error for the whole file; it names every kind of fault by row and field and counts the bad rows.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"maze file {path} does not exist")
    mazes: list[Maze] = []
    faults: list[str] = []
    # Bytes, so that a line that is not UTF-8 is a fault of that line and not of the whole file.
    for number, line in enumerate(path.read_bytes().removeprefix(BOM_UTF8).splitlines(), start=1):
        if line.strip():
            try:
                mazes.append(parse_row(_parse_json(line)))
            except ValueError as error:
                faults.append(f"row {number}: {error}")
    if faults:
        shown = "\n  ".join(faults[:10]) + ("\n  ..." if len(faults) > 10 else "")
        raise ValueError(f"{path}: {len(faults)} bad row(s), nothing was loaded\n  {shown}")
    if not mazes:
        raise ValueError(f'{path}: no mazes; a row is {{"grid": "S . #\\n. . E", "max_steps": 9}}')
    return mazes


def _parse_json(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise ValueError(f"not a line of JSON in UTF-8 ({error})") from None


def parse_row(row: Any) -> Maze:
    """One row of a maze file as a Maze. Raises ValueError that names the field."""
    if not isinstance(row, dict):
        raise ValueError(f"expected an object with fields 'grid' and 'max_steps', got {type(row).__name__}")
    for field in ("grid", "max_steps"):
        if field not in row:
            raise ValueError(f"field '{field}' is missing")
    grid, budget = row["grid"], row["max_steps"]
    if not isinstance(grid, str):
        raise ValueError(f"field 'grid' must be a string, got {type(grid).__name__}")
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise ValueError(f"field 'max_steps' must be a whole number, got {budget!r}")
    if budget < 1:
        raise ValueError(f"field 'max_steps' must be at least 1, got {budget}")
    if budget > MAX_STEPS:
        raise ValueError(f"field 'max_steps' must be at most {MAX_STEPS:,}, got {budget}")
    rows = tuple("".join(line.split()) for line in grid.strip().splitlines())
    if not rows or not rows[0]:
        raise ValueError("field 'grid' is empty")
    for r, tiles in enumerate(rows, start=1):
        if len(tiles) != len(rows[0]):
            raise ValueError(f"field 'grid': line {r} has {len(tiles)} tiles, line 1 has {len(rows[0])}")
        for c, tile in enumerate(tiles, start=1):
            if tile not in TILES:
                known = ", ".join(f"{t} {name}" for t, name in TILES.items())
                raise ValueError(f"field 'grid': line {r}, tile {c} is {tile!r}; tiles are {known}")
    for tile in (START, EXIT):
        if (count := sum(r.count(tile) for r in rows)) != 1:
            raise ValueError(f"field 'grid' needs exactly one {tile} ({TILES[tile]}), has {count}")
    return Maze(rows, budget)
