"""MazeGridEnv: the maze one move at a time, for classical multi-objective RL. `gym.make("vpo/MazeGrid-v0")`."""

from __future__ import annotations

from operator import index
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vpo_envs.maze.board import BONUS, DIAMOND, EXIT, GOLD, LAVA, START, WALL, Maze
from vpo_envs.maze.render import draw_ansi, draw_rgb
from vpo_envs.maze.rewards import reward_of
from vpo_envs.maze.task import MazeTask
from vpo_envs.text_env import check_problem_index, reward_space

PLANES = (WALL, GOLD, DIAMOND, LAVA, BONUS, EXIT, START)
"""The tiles whose planes make up an observation, in order; the last one is where the agent is."""


class MazeGridEnv(gym.Env[NDArray[np.float32], int]):
    """The mazes of `vpo/Maze-v0`, walked step by step.

    ## Description
    A grid with S and E on opposite corners, gold around one of the other corners, diamonds around the other, lava in
    the interior and a bonus tile in the centre. The step budget is enough for one treasure corner and never for both.
    `vpo_envs.maze.MazeTask` has the details, and `MazeTask.pareto_front` the exact front of each maze.

    ## Observation Space
    `Box(0, 1, (7 * height * width + 1,), float32)`: seven planes of 0 and 1, row by row (walls, gold left, diamonds
    left, lava not stepped on, bonus not visited, E, the agent), then the share of the steps that is left.

    ## Action Space
    `Discrete(4)`. A move into a wall or off the grid costs a step and goes nowhere.

    | action | move  |
    |--------|-------|
    | 0      | UP    |
    | 1      | DOWN  |
    | 2      | LEFT  |
    | 3      | RIGHT |

    ## Rewards
    float32 (4,) in [0, 1]^4: completion, gold, diamond, avoid_lava (`objectives`, `reward_space`, `reward_dim`,
    `reference_weights`). It is zero until the episode ends, and then what `vpo/Maze-v0` gives for the same walk: zero
    unless E was reached.

    ## Starting State
    The agent is on S. The maze follows from the seed alone and is the one that `vpo/Maze-v0` shows for this seed, also
    in later resets without one. `reset(options={"problem": i})` picks maze i.

    ## Info
    `problem`: the number of the maze.

    ## Episode End
    `terminated` on E or when the steps are used up: the budget is part of the maze and seen in the observation.

    ## Arguments
    `split`, `data`, `size`, `slack`, `score_mode`, `num_problems`: those of `vpo_envs.maze.MazeTask`. The mazes of a
    `data` file must be of one size. `render_mode`: None, "ansi" or "rgb_array".

    ## Version History
    v0: first version.
    """

    metadata = gym.Env.metadata | {"render_modes": ["ansi", "rgb_array"], "render_fps": 8}

    def __init__(self, *, render_mode: str | None = None, **task_kwargs: Any) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"{self._name}: render_mode must be one of {self.metadata['render_modes']}, not {render_mode!r}"
            )
        self.render_mode = render_mode
        self.task = MazeTask(**task_kwargs)
        height, width = _common_size(self.task)
        self._area = height * width
        self.observation_space = spaces.Box(0.0, 1.0, (len(PLANES) * self._area + 1,), np.float32)
        self.action_space = spaces.Discrete(4)  # type: ignore[assignment]  # Discrete is typed for NumPy's integers
        self.reward_space = reward_space(self.task)
        self.reward_dim = self.task.reward_dim
        self.objectives = self.task.objectives
        self.reference_weights = self.task.reference_weights
        # Where the plane of an item begins; a tile that is not in here is not picked up.
        self._plane = {tile: PLANES.index(tile) * self._area for tile in (GOLD, DIAMOND, LAVA, BONUS)}
        self._agent_plane = PLANES.index(START) * self._area
        self._maze: Maze | None = None
        self._left = 0  # steps left; 0 where there is no open episode

    @property
    def _name(self) -> str:
        return self.spec.id if self.spec is not None else "vpo/MazeGrid-v0"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Put the agent on S of the maze in `options["problem"]`, else of one drawn from the seed.

        Raises:
            ValueError: an unknown option, or a maze outside the split.
        """
        self._left = 0  # no episode is open until all of this went well
        super().reset(seed=seed)
        options = options or {}
        for option in options:
            if option != "problem":
                raise ValueError(f"{self._name}: the reset option is 'problem', not {option!r}")
        drawn = int(self.np_random.integers(len(self.task)))  # in every reset, as in TextEnv
        self._problem = check_problem_index(options.get("problem", drawn), self.task, self._name)
        maze = self._maze = self.task[self._problem]
        self._tiles = "".join(maze.rows)
        self._next, self._exit = maze.next_cell, maze.exit
        self._cell, self._left, self._visited = maze.start, maze.max_steps, 0
        self._route = [maze.start]
        self._outcome = (0.0, 0.0, 0.0, 0.0)
        tiles = np.frombuffer(self._tiles.encode(), np.uint8)
        # The observation as it stands; callers get copies. (7 * area + 1,)
        self._board = np.ones(len(PLANES) * self._area + 1, np.float32)
        self._board[:-1] = np.concatenate([tiles == ord(tile) for tile in PLANES])
        return self._board.copy(), {"problem": self._problem}

    def step(self, action: int) -> tuple[NDArray[np.float32], NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Make one move.

        Raises:
            TypeError: the action is not a whole number.
            ValueError: the action is not 0, 1, 2 or 3.
            gymnasium.error.ResetNeeded: there is no open episode.
        """
        if action.__class__ is not int:
            action = self._whole_number(action)
        if not 0 <= action <= 3:
            raise ValueError(f"{self._name}: an action is 0 UP, 1 DOWN, 2 LEFT or 3 RIGHT, not {action}")
        maze, left = self._maze, self._left - 1
        if maze is None or left < 0:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before step(); no episode is open")
        here, board = self._cell, self._board
        there = self._next[here][action]
        if there != here:
            board[self._agent_plane + here] = 0.0
            board[self._agent_plane + there] = 1.0
            plane = self._plane.get(self._tiles[there])
            if plane is not None:
                board[plane + there] = 0.0
                self._visited |= 1 << there
            self._cell = there
            self._route.append(there)
        board[-1] = left / maze.max_steps
        if there == self._exit:
            left = 0
            self._outcome = reward_of(maze, self._visited, self.task.score_mode)
            reward = np.array(self._outcome, np.float32)
        else:
            reward = np.zeros(4, np.float32)
        self._left = left
        return board.copy(), reward, left == 0, False, {"problem": self._problem}

    def _whole_number(self, action: Any) -> int:
        try:
            return index(action)
        except TypeError:
            raise TypeError(f"{self._name}: an action is a whole number, not {type(action).__name__}") from None

    def render(self) -> Any:
        """The maze and the way walked so far: text, or uint8 (h, w, 3); None without a render mode."""
        if self.render_mode is None or self._maze is None:
            return None
        if self.render_mode == "rgb_array":
            return draw_rgb(self._maze, [self._route])
        rewards = np.array([self._outcome], np.float32)
        return draw_ansi(self._maze, [self._route], rewards, [o.name for o in self.objectives])


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
