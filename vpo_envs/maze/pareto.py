"""The exact Pareto front of a maze, by dynamic programming over (cell, items stepped on) with the step budget.

A set of item subsets is one int of 2^n bits, bit s set if subset s is reachable. Stepping on item j turns every subset
s without j into s | 1 << j, which for the whole set is a mask and one shift, so a layer of the dynamic program costs a
few operations on integers of 2^n bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vpo_envs.maze.board import Maze
from vpo_envs.maze.rewards import ScoreMode, reward_of
from vpo_envs.metrics import non_dominated

MAX_ITEMS = 20


def attainable_subsets(maze: Maze) -> tuple[list[int], list[int]]:
    """The item cells, and every subset of them that some walk to E within the budget steps on (bit j: item j).

    Raises:
        ValueError: more than 20 cells with gold, diamonds, lava or a bonus.
    """
    items = [cell for cell in range(maze.width * maze.height) if any(m >> cell & 1 for m in maze.items)]
    if len(items) > MAX_ITEMS:
        raise ValueError(f"the exact front needs at most {MAX_ITEMS} item cells, this maze has {len(items)}")
    size = 1 << len(items)
    every = (1 << size) - 1
    # without[j]: the subsets that lack item j, a periodic pattern of 2^j ones and 2^j zeros.
    without = [every // ((1 << (2 << j)) - 1) * ((1 << (1 << j)) - 1) for j in range(len(items))]
    number = {cell: j for j, cell in enumerate(items)}

    fresh: dict[int, int] = {maze.start: 1}  # cell -> set of subsets; at first only the empty subset
    known = dict(fresh)  # the same for all steps so far
    arrived = 0
    for _ in range(maze.max_steps):
        following: dict[int, int] = {}
        for cell, subsets in fresh.items():
            for there in set(maze.next_cell[cell]):
                following[there] = following.get(there, 0) | subsets
        for cell, subsets in following.items():
            if cell in number:
                j = number[cell]
                following[cell] = (subsets & ~without[j]) | (subsets & without[j]) << (1 << j)
        arrived |= following.pop(maze.exit, 0)
        # What was reached before leads nowhere new, so the work ends with the news, however large the budget is.
        fresh = {cell: new for cell, subsets in following.items() if (new := subsets & ~known.get(cell, 0))}
        if not fresh:
            break
        for cell, subsets in fresh.items():
            known[cell] = known.get(cell, 0) | subsets
    raw = np.frombuffer(arrived.to_bytes(max(1, size // 8), "little"), np.uint8)
    return items, np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist()


def pareto_front(maze: Maze, score_mode: ScoreMode = "linear") -> NDArray[np.float32]:
    """All attainable reward vectors that no attainable one dominates, float32 (n, 4), sorted; (0, 4) if E is too far.

    Raises:
        ValueError: more than 20 cells with gold, diamonds, lava or a bonus.
    """
    items, subsets = attainable_subsets(maze)
    cells = [sum(1 << items[j] for j in range(len(items)) if s >> j & 1) for s in subsets]
    vectors = np.array(sorted({reward_of(maze, visited, score_mode) for visited in cells}), np.float32).reshape(-1, 4)
    return vectors[non_dominated(vectors)]
