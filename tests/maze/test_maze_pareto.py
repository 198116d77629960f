"""The exact Pareto front against an enumeration of all walks, and against demonstrations."""

from __future__ import annotations

from random import Random
from typing import Literal

import numpy as np
import pytest
from maze_helpers import STEPS, Cell, maze_of, random_small_maze, tiles_of, where

from vpo_envs.maze import Maze, MazeTask
from vpo_envs.maze.pareto import pareto_front

Vector = tuple[float, float, float, float]
MODES: tuple[Literal["linear", "convex_bonus"], ...] = ("linear", "convex_bonus")


def all_walks(maze: Maze) -> set[frozenset[Cell]]:
    """The cells stepped on, for every sequence of moves that ends on E within the budget."""
    tiles = tiles_of(maze)
    [start] = where(maze, "S")
    found: set[frozenset[Cell]] = set()

    def go(cell: Cell, visited: frozenset[Cell], left: int) -> None:
        if tiles[cell] == "E":
            found.add(visited)
        elif left:
            for dr, dc in STEPS:
                there = (cell[0] + dr, cell[1] + dc)
                if tiles.get(there, "#") == "#":
                    there = cell
                go(there, visited | {there}, left - 1)

    go(start, frozenset(), maze.max_steps)
    return found


def reward(maze: Maze, visited: frozenset[Cell], mode: str) -> Vector:
    """The reward by the words of the documentation."""
    counts = {t: (sum(tiles_of(maze)[cell] == t for cell in visited), len(where(maze, t))) for t in "GDLB"}
    gold, diamond = (counts[t][0] / counts[t][1] if counts[t][1] else 1.0 for t in "GD")
    if mode == "convex_bonus":
        factor = 1.5 if counts["B"][0] else 1.0
        gold, diamond = min(1.0, gold**2 * factor), min(1.0, diamond**2 * factor)
    return 1.0, gold, diamond, 1 - counts["L"][0] / counts["L"][1] if counts["L"][1] else 1.0


def dominates(a: Vector, b: Vector) -> bool:
    return all(x >= y for x, y in zip(a, b, strict=True)) and a != b


def test_the_front_equals_that_of_all_walks_on_random_small_mazes():
    rng = Random(0)
    sizes = []
    for _ in range(80):
        maze = random_small_maze(rng)
        walks = all_walks(maze)
        for mode in MODES:
            vectors = {reward(maze, visited, mode) for visited in walks}
            expected = {v for v in vectors if not any(dominates(w, v) for w in vectors)}
            front = pareto_front(maze, mode)
            assert front.dtype == np.float32
            assert front.shape == (len(expected), 4), maze
            assert np.allclose(front, np.array(sorted(expected)).reshape(-1, 4), atol=1e-6), maze
            sizes.append(len(expected))
    assert sizes.count(0) < 80  # E is within reach in most of them
    assert max(sizes) >= 3  # and some have a real trade-off


def test_a_front_by_hand():
    maze = maze_of(
        """
        D D .
        S L E
        G . .
        """,
        max_steps=4,
    )
    assert pareto_front(maze).tolist() == [[1, 0, 1, 1], [1, 1, 0, 1]]
    shorter = Maze(maze.rows, 2)
    assert pareto_front(shorter).tolist() == [[1, 0, 0, 0]]


def test_the_front_is_empty_where_the_exit_is_out_of_reach():
    assert pareto_front(maze_of("S # E")).shape == (0, 4)
    assert pareto_front(maze_of("S . . E", max_steps=2)).shape == (0, 4)


def test_more_items_than_fit_are_refused():
    with pytest.raises(ValueError, match="at most 20 item cells, this maze has 21"):
        pareto_front(maze_of("S" + "G" * 21 + "E", max_steps=30))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [6, 9])
def test_no_demonstration_beats_the_front_and_objectives_conflict(size, mode):
    task = MazeTask(size=size, score_mode=mode)
    rng = Random(1)
    alone = 0
    for i in range(30):
        front = task.pareto_front(task[i])
        answers = [task.demonstration(task[i], rng) for _ in range(10)]
        for vector in task.score_batch([task[i]] * 10, answers):
            assert (front >= vector).all(axis=1).any()
        alone += len(front) == 1
    assert alone < 10  # almost always there is more than one best answer


def test_a_huge_budget_costs_nothing_once_nothing_new_is_reached():
    rng = Random(5)
    for _ in range(20):
        maze = random_small_maze(rng)
        enough, huge = (pareto_front(Maze(maze.rows, budget)) for budget in (200, 10**12))
        assert np.array_equal(enough, huge)
    assert pareto_front(maze_of("S . . . #\n# # # . E", 10**12)).tolist() == [[1, 1, 1, 1]]
