"""Every state of one maze, numbered: what a tabular method needs to know of a walk, and where each move leads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vpo_envs.maze.board import BONUS, DIAMOND, GOLD, LAVA, Maze
from vpo_envs.maze.rewards import ScoreMode, reward_of

MAX_STATES = 1_000_000
"""Of one maze. The table takes 16 bytes a state, and a Pareto Q-learner that keeps sets about 1,000."""


@dataclass(frozen=True)
class StateTable:
    """The deterministic Markov decision process of one maze. State 0 is the start.

    There are three sorts of states, in this order:
    * on the way: (cell, items stepped on, steps left) from which E is still within reach;
    * too late: E is out of reach, whatever lies behind; one state for each number of steps left;
    * outcomes, where the episode is over: one for "out of steps" and one for each attainable reward vector.

    All of them, and no others, are reached from the start. Two walks share a state only if the same moves earn them the
    same rewards and end at the same time from there on, so the state is Markov and nothing attainable is lost.
    """

    successors: NDArray[np.int32]
    """(n, 4): where UP, DOWN, LEFT, RIGHT lead. Outcomes lead to themselves."""
    outcomes: NDArray[np.float32]
    """(m, 4): the rewards of the last m states. A move into state n - m + j earns outcomes[j], any other earns zero."""

    @property
    def num_states(self) -> int:
        return len(self.successors)


def state_table(maze: Maze, score_mode: ScoreMode = "linear") -> StateTable:
    """Enumerate the states of a maze, breadth first: as many layers as the budget has steps.

    Raises:
        ValueError: more than `MAX_STATES` states.
    """
    items = sorted(cell for tile in _counting(score_mode) for cell in maze.cells(tile))
    if len(items) > 40:
        raise _too_large(f"has {len(items)} item cells")
    # A state on the way is the number cell * 2^items + subset, in the layer of its steps left.
    next_cell = np.array(maze.next_cell)
    bit = np.zeros(len(next_cell), np.int64)
    bit[items] = 1 << np.arange(len(items))
    to_exit = np.full(len(next_cell), maze.max_steps + 1)
    for cell, distance in _distances(maze, maze.exit).items():
        to_exit[cell] = distance

    blocks: list[NDArray[np.int64]] = []
    codes = np.array([maze.start << len(items)])
    total = 0
    left = maze.max_steps
    if to_exit[maze.start] > left:
        codes = codes[:0]
    while len(codes):
        total += len(codes)
        if total > MAX_STATES:
            raise _too_large(f"has more than {MAX_STATES:,} states")
        left -= 1
        there = next_cell[codes >> len(items)]  # (states, 4)
        subsets = (codes & ((1 << len(items)) - 1))[:, None] | bit[there]
        onward = (there != maze.exit) & (to_exit[there] <= left)
        codes, numbers = np.unique((there << len(items) | subsets)[onward], return_inverse=True)
        # Ends do not have their numbers yet: ~(steps left) where it is too late, ~(budget + subset) on E.
        block = ~np.where(there == maze.exit, maze.max_steps + subsets, left)
        block[onward] = total + numbers
        blocks.append(block)
    return _numbered(maze, score_mode, items, np.concatenate([*blocks, np.zeros((0, 4), np.int64)]))


def _numbered(maze: Maze, score_mode: ScoreMode, items: list[int], successors: NDArray[np.int64]) -> StateTable:
    """The table, from rows in which negative entries say how the walk ends."""
    budget = maze.max_steps
    ends, which = np.unique(~successors[successors < 0], return_inverse=True)
    # The start itself is too late where E cannot be reached at all.
    latest = max((int(end) for end in ends if end < budget), default=-1) if len(successors) else budget
    if len(successors) + latest > MAX_STATES:
        raise _too_large(f"has more than {MAX_STATES:,} states")
    vectors = [reward_of(maze, _cells(int(end) - budget, items), score_mode) for end in ends if end >= budget]
    outcomes = [(0.0, 0.0, 0.0, 0.0)] * (latest >= 0) + sorted(set(vectors))
    number = {vector: len(successors) + max(latest, 0) + j for j, vector in enumerate(outcomes)}
    out_of_steps = len(successors) + max(latest, 0)  # each state before it has one step less than the one before that
    late = [out_of_steps - int(end) for end in ends if end < budget]
    final = np.array(late + [number[vector] for vector in vectors], np.int64)
    successors[successors < 0] = final[which]
    chain = np.arange(len(successors) + 1, out_of_steps + 1)
    loops = np.arange(out_of_steps, out_of_steps + len(outcomes))
    if out_of_steps + len(outcomes) > MAX_STATES:
        raise _too_large(f"has more than {MAX_STATES:,} states")
    rows = np.concatenate([successors, np.repeat(np.concatenate([chain, loops])[:, None], 4, axis=1)])
    return StateTable(rows.astype(np.int32), np.array(outcomes, np.float32).reshape(-1, 4))


def _counting(score_mode: ScoreMode) -> tuple[str, ...]:
    """The tiles that the reward depends on."""
    return (GOLD, DIAMOND, LAVA) if score_mode == "linear" else (GOLD, DIAMOND, LAVA, BONUS)


def _cells(subset: int, items: list[int]) -> int:
    return sum(1 << cell for j, cell in enumerate(items) if subset >> j & 1)


def _distances(maze: Maze, source: int) -> dict[int, int]:
    layers = maze.layers(source, maze.open_cells)
    return {cell: d for d, layer in enumerate(layers) for cell in range(layer.bit_length()) if layer >> cell & 1}


def _too_large(how: str) -> ValueError:
    return ValueError(
        f"vpo/MazeGrid-v0: the maze {how}, too large for a table; use observation='planes', or a smaller size or slack"
    )
