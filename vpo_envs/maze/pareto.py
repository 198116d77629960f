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

Vector = tuple[float, float, float, float]


def attainable_subsets(maze: Maze) -> tuple[list[int], dict[int, int]]:
    """The item cells, and every subset of them that some walk to E within the budget steps on (bit j: item j).

    Each subset comes with the least number of steps of such a walk, in ascending order of that.

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
    steps_of: dict[int, int] = {}
    for step in range(1, maze.max_steps + 1):
        following: dict[int, int] = {}
        for cell, subsets in fresh.items():
            for there in set(maze.next_cell[cell]):
                following[there] = following.get(there, 0) | subsets
        for cell, subsets in following.items():
            if cell in number:
                j = number[cell]
                following[cell] = (subsets & ~without[j]) | (subsets & without[j]) << (1 << j)
        if first := following.pop(maze.exit, 0) & ~arrived:
            arrived |= first
            raw = np.frombuffer(first.to_bytes(max(1, size // 8), "little"), np.uint8)
            steps_of |= dict.fromkeys(np.flatnonzero(np.unpackbits(raw, bitorder="little")).tolist(), step)
        # What was reached before leads nowhere new, so the work ends with the news, however large the budget is.
        fresh = {cell: new for cell, subsets in following.items() if (new := subsets & ~known.get(cell, 0))}
        if not fresh:
            break
        for cell, subsets in fresh.items():
            known[cell] = known.get(cell, 0) | subsets
    return items, steps_of


def attainable_vectors(maze: Maze, score_mode: ScoreMode = "linear") -> dict[Vector, int]:
    """Every attainable reward vector but "E not reached", and the least number of steps in which it is earned.

    Raises:
        ValueError: more than 20 cells with gold, diamonds, lava or a bonus.
    """
    items, subsets = attainable_subsets(maze)
    steps_of: dict[Vector, int] = {}
    for subset, steps in subsets.items():  # fewest steps first
        cells = sum(1 << items[j] for j in range(len(items)) if subset >> j & 1)
        steps_of.setdefault(reward_of(maze, cells, score_mode), steps)
    return steps_of


def pareto_front(maze: Maze, score_mode: ScoreMode = "linear") -> NDArray[np.float32]:
    """All attainable reward vectors that no attainable one dominates, float32 (n, 4), sorted; (0, 4) if E is too far.

    Raises:
        ValueError: more than 20 cells with gold, diamonds, lava or a bonus.
    """
    vectors = np.array(sorted(attainable_vectors(maze, score_mode)), np.float32).reshape(-1, 4)
    return vectors[non_dominated(vectors)]


def discounted_front(attainable: dict[Vector, int], gamma: float) -> NDArray[np.float64]:
    """All undominated returns gamma^(T - 1) r of walks that earn r in their last step T, float64 (n, 4), sorted.

    The walks are those of `attainable_vectors`: r is never negative, so a shortest walk that earns r has the largest
    return. As in the step-by-step environment r is a float32 vector. gamma = 1 gives `pareto_front`.

    Raises:
        ValueError: gamma outside [0, 1].
    """
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"the discount gamma must be from 0 to 1, not {gamma!r}")
    vectors = np.array(list(attainable), np.float32).reshape(-1, 4).astype(np.float64)
    discounts = np.array([gamma ** (steps - 1) for steps in attainable.values()], np.float64)
    returns = np.unique(vectors * discounts[:, None], axis=0)
    return returns[non_dominated(returns)]
