"""What the single and the batched `vpo/MazeGrid-v0` share: arguments, spaces, mazes as arrays, and the exact front."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vpo_envs.maze.board import BONUS, DIAMOND, EXIT, GOLD, LAVA, START, WALL, Maze
from vpo_envs.maze.grid_states import StateTable, state_table
from vpo_envs.maze.pareto import Vector, attainable_vectors, discounted_front
from vpo_envs.maze.task import MazeTask
from vpo_envs.problem_lists import GeneratedProblems
from vpo_envs.text_env import check_problem_index

PLANES = (WALL, GOLD, DIAMOND, LAVA, BONUS, EXIT, START)
"""The tiles whose planes make up an observation, in order; the last one is where the agent is."""

ObservationKind = Literal["planes", "state", "state_array"]


@dataclass(frozen=True)
class GridMaze:
    """A maze as arrays. Cells are numbered row by row."""

    maze: Maze
    next_cell: NDArray[np.int32]
    """(area, 4): where a move leads."""
    cleared: NDArray[np.int32]
    """(area,): the entry of an observation that becomes 0 when the cell is stepped on. Of a cell without an item it is
    the one that says "wall", which is 0 anyway where one can step."""
    planes: NDArray[np.float32]
    """(7 * area + 1,): the first observation."""
    masks: NDArray[np.bool_]
    """(area, 4): `open_moves` of every cell."""

    @classmethod
    def of(cls, task: MazeTask, index: int) -> GridMaze:
        maze = task[index]
        tiles = np.frombuffer("".join(maze.rows).encode(), np.uint8)
        area = len(tiles)
        next_cell = np.array(maze.next_cell, np.int32)
        cleared = np.arange(area, dtype=np.int32)
        for tile in (GOLD, DIAMOND, LAVA, BONUS):
            cleared[tiles == ord(tile)] += PLANES.index(tile) * area
        planes = np.concatenate([*(tiles == ord(tile) for tile in PLANES), [True]]).astype(np.float32)
        return cls(maze, next_cell, cleared, planes, open_moves(next_cell, np.arange(area)))


def open_moves(following: NDArray[np.integer], cells: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which of the moves from cells (n,) to `following` (n, 4) lead elsewhere, bool (n, 4).

    All four where none does, since one has to be made.
    """
    masks: NDArray[np.bool_] = following != cells[:, None]
    masks[~masks.any(axis=1)] = True
    return masks


class GridWorld:
    """The mazes of a task as a step-by-step environment shows them."""

    def __init__(self, name: str, observation: ObservationKind, maze: int | None, task_kwargs: dict[str, Any]) -> None:
        if observation not in get_args(ObservationKind):
            kinds = ", ".join(map(repr, get_args(ObservationKind)))
            raise ValueError(f"{name}: observation must be one of {kinds}, not {observation!r}")
        self.task = MazeTask(**task_kwargs)
        self.observation: ObservationKind = observation
        height, width = _common_size(self.task)
        self.area = height * width
        if maze is not None and (isinstance(maze, bool) or not isinstance(maze, int) or not 0 <= maze < len(self.task)):
            raise ValueError(
                f"{name}: maze must be 0..{len(self.task) - 1} ({self.task.split} split), or None for a new maze in "
                f"every episode, not {maze!r}"
            )
        self.fixed = maze
        self.mazes = GeneratedProblems(len(self.task), partial(GridMaze.of, self.task))
        self.states: StateTable | None = None
        self.observation_space: spaces.Box | spaces.Discrete | spaces.MultiDiscrete
        if observation == "planes":
            self.observation_space = spaces.Box(0.0, 1.0, (len(PLANES) * self.area + 1,), np.float32)
        else:
            if maze is None:
                raise ValueError(
                    f"{name}: observation={observation!r} numbers the states of one maze; name it with maze=0 to "
                    f"maze={len(self.task) - 1}"
                )
            self.states = state_table(self.task[maze], self.task.score_mode)
            n = self.states.num_states
            self.observation_space = spaces.Discrete(n) if observation == "state" else spaces.MultiDiscrete([n])
        self._attainable: dict[Vector, int] | None = None
        self._fronts: dict[float, NDArray[np.float64]] = {}

    def check_option(self, options: dict[str, Any] | None, name: str) -> Any:
        """What stands under "problem" in the options of reset, or None. Raises ValueError for any other option."""
        for option in options or {}:
            if option != "problem":
                raise ValueError(f"{name}: the reset option is 'problem', not {option!r}")
        return (options or {}).get("problem")

    def check_problem(self, index: Any, name: str) -> int:
        """Raise ValueError unless an episode may show the maze of this number."""
        problem = check_problem_index(index, self.task, name)
        if self.fixed is not None and problem != self.fixed:
            raise ValueError(
                f"{name}: options['problem'] is {problem}, but maze={self.fixed} is fixed in every episode"
            )
        return problem

    def draw(self, rng: np.random.Generator) -> int:
        """The maze of the next episode; a fixed one takes no random number."""
        return self.fixed if self.fixed is not None else int(rng.integers(len(self.task)))

    def pareto_front(self, gamma: float, name: str) -> list[NDArray[np.float64]]:
        """The front of the fixed maze; see `MazeGridEnv.pareto_front`."""
        if self.fixed is None:
            raise ValueError(
                f"{name}: every episode has a maze and a front of its own; fix one with maze=i, or ask "
                "task.pareto_front(task[i])"
            )
        if self._attainable is None:
            self._attainable = attainable_vectors(self.task[self.fixed], self.task.score_mode)
        front = self._fronts.get(gamma)
        if front is None:
            front = self._fronts[gamma] = discounted_front(self._attainable, gamma)
        return list(front.copy())


def _common_size(task: MazeTask) -> tuple[int, int]:
    """Height and width of all mazes of a task. Raises ValueError where they differ."""
    if task.data is None:
        return task.size, task.size
    height, width = task[0].height, task[0].width
    for i in range(len(task)):
        if (task[i].height, task[i].width) != (height, width):
            raise ValueError(
                f"{task.data}: maze {i} is {task[i].height} x {task[i].width}, maze 0 is {height} x {width}; "
                "vpo/MazeGrid-v0 has one observation space, so its mazes must be of one size"
            )
    return height, width
