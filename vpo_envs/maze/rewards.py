"""What a walk through a maze earns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from vpo_envs.maze.board import Maze

ScoreMode = Literal["linear", "convex_bonus"]


def walk(maze: Maze, moves: Sequence[int]) -> int | None:
    """The set of cells stepped on before E, or None if E is not reached within the budget."""
    table, cell, exit_ = maze.next_cell, maze.start, maze.exit
    visited = 0
    for move in moves[: maze.max_steps]:
        cell = table[cell][move]
        if cell == exit_:
            return visited
        visited |= 1 << cell
    return None


def route(maze: Maze, moves: Sequence[int]) -> list[int]:
    """The cells walked through, S first, blocked moves left out, up to E or the end of the budget."""
    cells = [maze.start]
    for move in moves[: maze.max_steps]:
        cell = maze.next_cell[cells[-1]][move]
        if cell != cells[-1]:
            cells.append(cell)
        if cell == maze.exit:
            break
    return cells


def reward_of(maze: Maze, visited: int, score_mode: ScoreMode = "linear") -> tuple[float, float, float, float]:
    """Reward vector (completion, gold, diamond, avoid_lava) of a walk that reached E after stepping on `visited`."""
    gold, diamond, lava, bonus = maze.items
    g, d = _share(visited, gold), _share(visited, diamond)
    avoided = 1.0 - (visited & lava).bit_count() / lava.bit_count() if lava else 1.0
    if score_mode == "convex_bonus":
        factor = 1.5 if visited & bonus else 1.0
        g, d = min(1.0, g * g * factor), min(1.0, d * d * factor)
    return 1.0, g, d, avoided


def _share(visited: int, items: int) -> float:
    return (visited & items).bit_count() / items.bit_count() if items else 1.0
