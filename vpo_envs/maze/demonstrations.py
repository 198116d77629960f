"""Routes of a walker who reaches the exit by varied ways but does not care for what lies on them."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from vpo_envs.maze.board import MOVES, Maze


def careless_route(maze: Maze, rng: Random) -> str:
    """Moves, each followed by the cell it leads to, over one or two random waypoints to the exit within the budget.

    Two routes in three keep off the treasure and one in two keeps off the lava, where that is possible; what they pick
    up otherwise is an accident. A policy that imitates them can walk, and which trade-off to take is left to learn.
    If the exit cannot be reached at all the answer is a single move, which scores zero.
    """
    gold, diamond, lava, _ = maze.items
    free = maze.open_cells
    if rng.random() < 2 / 3:
        free &= ~(gold | diamond)
    if rng.random() < 1 / 2:
        free &= ~lava
    waypoints = rng.choice((1, 2))
    cells = _route(maze, rng, free, waypoints) or _route(maze, rng, maze.open_cells, waypoints)
    if cells is None:
        return "UP"
    names = {d: name for name, d in MOVES.items()}
    words = []
    for here, there in pairwise(cells):
        (r, c), (rr, cc) = divmod(here, maze.width), divmod(there, maze.width)
        words.append(f"{names[rr - r, cc - c]} ({rr},{cc})")
    return " ".join(words)


def _route(maze: Maze, rng: Random, free: int, waypoints: int) -> list[int] | None:
    """S over random waypoints to E, by random shortest ways, within the budget; None if E is out of reach."""
    from_exit = maze.layers(maze.exit, free)
    to_exit = {cell: d for d, layer in enumerate(from_exit) for cell in _members(layer)}
    cells = [maze.start]
    for _ in range(waypoints):
        layers = maze.layers(cells[-1], free & ~(1 << maze.exit))
        left = maze.max_steps - (len(cells) - 1)
        reachable = [
            (cell, d)
            for d, layer in enumerate(layers)
            for cell in _members(layer)
            if cell in to_exit and d + to_exit[cell] <= left
        ]
        if not reachable:
            return None
        waypoint, d = rng.choice(reachable)
        cells += _descend(maze, rng, waypoint, layers[: d + 1])[-2::-1]
    return cells + _descend(maze, rng, cells[-1], from_exit[: to_exit[cells[-1]] + 1])[1:]


def _descend(maze: Maze, rng: Random, cell: int, layers: list[int]) -> list[int]:
    """A random shortest way from a cell in the last layer to the source of the layers."""
    cells = [cell]
    for layer in reversed(layers[:-1]):
        cells.append(rng.choice(_members(maze.spread(1 << cells[-1], layer))))
    return cells


def _members(cells: int) -> list[int]:
    """The cells of a set, in reading order."""
    members = []
    while cells:
        low = cells & -cells
        members.append(low.bit_length() - 1)
        cells ^= low
    return members
