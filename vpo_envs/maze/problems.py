"""Where mazes come from: generated from a seed, or read from a file."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from vpo_envs.data_files import Record, file_rows, load_problems
from vpo_envs.maze.board import EXIT, START, TILES, Maze
from vpo_envs.maze.generator import ATTEMPTS, generate_maze, no_maze
from vpo_envs.problem_lists import split_of
from vpo_envs.task import Split

MAX_STEPS = 1_000_000  # of a maze from a file; time and memory of a walk grow with it


def belongs_to(maze: Maze) -> Split:
    """The split of a grid: no maze is ever in both."""
    return split_of("\n".join(maze.rows))


def generated_maze(split: Split, size: int, slack: int, index: int) -> Maze:
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


def load_mazes(path: str | Path, skip_bad_rows: bool = False) -> list[Maze]:
    """Read a file of `{"grid": "S . #\\n. E .", "max_steps": 23}`; see `vpo_envs.data_files` for formats and errors."""
    expected = '{"grid": "S . #\\n. . E", "max_steps": 9}'
    return load_problems(path, file_rows(path), parse_row, skip_bad_rows, expected)


def parse_row(row: Any) -> Maze:
    """One row of a maze file as a Maze. Raises ValueError that names the field."""
    record = Record(row)
    grid, budget = record.text("grid"), record.whole("max_steps")
    if budget < 1:
        raise record.error("max_steps", f"must be at least 1, got {budget}")
    if budget > MAX_STEPS:
        raise record.error("max_steps", f"must be at most {MAX_STEPS:,}, got {budget}")
    rows = tuple("".join(line.split()) for line in grid.strip().splitlines())
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
