"""What the maze tests share."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from vpo_envs.maze.board import MOVES, Maze

Cell = tuple[int, int]
STEPS = tuple(MOVES.values())


def maze_of(grid: str, max_steps: int = 20) -> Maze:
    """A maze from lines of tiles; spaces do not count."""
    return Maze(tuple("".join(line.split()) for line in grid.strip().splitlines()), max_steps)


def tiles_of(maze: Maze) -> dict[Cell, str]:
    """(row, column) -> tile."""
    return {(r, c): tile for r, row in enumerate(maze.rows) for c, tile in enumerate(row)}


def where(maze: Maze, tile: str) -> list[Cell]:
    """The (row, column) of every such tile."""
    return [cell for cell, t in tiles_of(maze).items() if t == tile]


def distance(maze: Maze, source: Cell, target: Cell, avoid: Iterable[Cell] = ()) -> float:
    """Plain breadth-first search around walls and `avoid`; infinite where there is no way."""
    tiles = tiles_of(maze)
    closed = {cell for cell, tile in tiles.items() if tile == "#"} | set(avoid)
    frontier, steps = {source}, 0
    while frontier:
        if target in frontier:
            return steps
        closed |= frontier
        frontier = {
            (r + dr, c + dc) for r, c in frontier for dr, dc in STEPS if tiles.get((r + dr, c + dc)) is not None
        } - closed
        steps += 1
    return float("inf")


def random_small_maze(rng: Random) -> Maze:
    """A maze of 9 to 12 cells, with any tiles anywhere and a budget of 4 to 8; E may be out of reach."""
    height, width = rng.choice([(3, 4), (4, 3), (2, 5), (3, 3)])
    tiles = rng.choices("...##GDLB", k=height * width)
    start, exit_ = rng.sample(range(height * width), 2)
    tiles[start], tiles[exit_] = "S", "E"
    return Maze(tuple("".join(tiles[r * width : (r + 1) * width]) for r in range(height)), rng.randint(4, 8))
