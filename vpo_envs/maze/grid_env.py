"""MazeGridEnv: the maze one move at a time, for classical multi-objective RL. `gym.make("vpo/MazeGrid-v0")`."""

from __future__ import annotations

from operator import index
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vpo_envs.maze.grid_world import PLANES, GridMaze, GridWorld, ObservationKind
from vpo_envs.maze.render import draw_ansi, draw_rgb
from vpo_envs.maze.rewards import reward_of
from vpo_envs.text_env import reward_space


class MazeGridEnv(gym.Env[Any, int]):
    """The mazes of `vpo/Maze-v0`, walked step by step.

    ## Description
    A grid with S and E on opposite corners, gold around one of the other corners, diamonds around the other, lava in
    the interior and a bonus tile in the centre. The step budget is enough for one treasure corner and never for both.
    `vpo_envs.maze.MazeTask` has the details. `gym.make_vec` returns the same in batches (`MazeGridVectorEnv`).

    ## Observation Space
    | `observation`   | space                                           |                                           |
    |-----------------|-------------------------------------------------|-------------------------------------------|
    | `"planes"`      | `Box(0, 1, (7 * height * width + 1,), float32)` | for networks                              |
    | `"state"`       | `Discrete(n)`                                   | for tables, with a fixed maze             |
    | `"state_array"` | `MultiDiscrete([n])`                            | the same number in an int64 array (1,)    |

    The planes are seven, of 0 and 1, row by row (walls, gold left, diamonds left, lava not stepped on, bonus not
    visited, E, the agent); after them comes the share of the steps that is left.

    A state is the number of (cell, items stepped on, steps left) among those that can be reached, 0 at the start.
    States in which the steps no longer suffice to reach E differ only by the steps left, and what an ended episode
    shows only by its reward vector, so the state is Markov: the same moves from it earn the same and end at the same
    time. `vpo_envs.maze.grid_states.StateTable` is the whole decision process.

    ## Action Space
    `Discrete(4)`. A move into a wall or off the grid costs a step and goes nowhere; `action_masks()` is False there.

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
    in later resets without one. `reset(options={"problem": i})` picks maze i. With `maze=i` it is always that one.

    ## Info
    `problem`: the number of the maze.

    ## Episode End
    `terminated` on E or when the steps are used up: the budget is part of the maze and seen in the observation.

    ## Arguments
    * `observation`: "planes" (default), "state" or "state_array".
    * `maze`: the number of a maze of the split, for every episode; default None, a new one in each.
    * `render_mode`: None, "ansi" or "rgb_array".
    * `split`, `data`, `size`, `slack`, `score_mode`, `num_problems`: those of `vpo_envs.maze.MazeTask`. The mazes
      of a `data` file must be of one size.

    Raises ValueError for a bad argument, for states of a maze that is not fixed, and for more than 1,000,000 states.

    ## Version History
    v0: first version.
    """

    metadata = gym.Env.metadata | {"render_modes": ["ansi", "rgb_array"], "render_fps": 8}

    def __init__(
        self,
        *,
        observation: ObservationKind = "planes",
        maze: int | None = None,
        render_mode: str | None = None,
        **task_kwargs: Any,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"{self._name}: render_mode must be one of {self.metadata['render_modes']}, not {render_mode!r}"
            )
        self.render_mode = render_mode
        self._world = GridWorld(self._name, observation, maze, task_kwargs)
        self.task = self._world.task
        self.observation_space = self._world.observation_space
        self.action_space = spaces.Discrete(4)  # type: ignore[assignment]  # Discrete is typed for NumPy's integers
        self.reward_space = reward_space(self.task)
        self.reward_dim = self.task.reward_dim
        self.objectives = self.task.objectives
        self.reference_weights = self.task.reference_weights
        self._agent_plane = self._world.area * (len(PLANES) - 1)
        self._grid: GridMaze | None = None
        self._states = None if self._world.states is None else self._world.states.successors
        self._left = 0  # steps left; 0 where there is no open episode

    @property
    def _name(self) -> str:
        return self.spec.id if self.spec is not None else "vpo/MazeGrid-v0"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Put the agent on S of the fixed maze, of the one in `options["problem"]`, or of one drawn from the seed.

        Raises:
            ValueError: an unknown option, or a maze outside the split or other than the fixed one.
        """
        self._left = 0  # no episode is open until all of this went well
        super().reset(seed=seed)
        problem = self._world.check_option(options, self._name)
        drawn = self._world.draw(self.np_random)  # in every reset, as in TextEnv
        self._problem = drawn if problem is None else self._world.check_problem(problem, self._name)
        grid = self._grid = self._world.mazes[self._problem]
        maze = self._maze = grid.maze
        self._next, self._exit = maze.next_cell, maze.exit
        self._cleared = grid.cleared.tolist()
        self._cell, self._left, self._visited = maze.start, maze.max_steps, 0
        self._route = [maze.start]
        self._outcome = (0.0, 0.0, 0.0, 0.0)
        self._board = grid.planes.copy()  # the planes as they stand; callers get copies
        self._state = 0
        return self._observe(), {"problem": self._problem}

    def _observe(self) -> Any:
        if self._states is None:
            return self._board.copy()
        return self._state if self._world.observation == "state" else np.array([self._state])

    def step(self, action: int) -> tuple[Any, NDArray[np.float32], bool, bool, dict[str, Any]]:
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
        left = self._left - 1
        if left < 0:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before step(); no episode is open")
        here = self._cell
        there = self._next[here][action]
        if there != here:
            self._cell = there
            self._visited |= 1 << there
            self._route.append(there)
        if self._states is not None:
            self._state = self._states.item(self._state, action)
        else:
            board = self._board
            if there != here:
                board[self._cleared[there]] = 0.0
                board[self._agent_plane + here] = 0.0
                board[self._agent_plane + there] = 1.0
            board[-1] = left / self._maze.max_steps
        if there == self._exit:
            left = 0
            self._outcome = reward_of(self._maze, self._visited, self.task.score_mode)
            reward = np.array(self._outcome, np.float32)
        else:
            reward = np.zeros(4, np.float32)
        self._left = left
        return self._observe(), reward, left == 0, False, {"problem": self._problem}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which moves lead to another cell, bool (4,), as `MaskablePPO` asks for it; all four where none does.

        A wrapped environment has it as `env.get_wrapper_attr("action_masks")()`. Making an array in every step would
        take a tenth of the step's time, so it is not in info.

        Raises:
            gymnasium.error.ResetNeeded: no maze has been shown yet.
        """
        if self._grid is None:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before action_masks()")
        return self._grid.masks[self._cell].copy()

    def pareto_front(self, gamma: float = 1.0) -> list[NDArray[np.float64]]:
        """The exact front of the fixed maze: undominated discounted returns, n float64 arrays of shape (4,), sorted.

        It ranges over all deterministic policies, which here are all walks: one that earns r in its step T returns
        gamma^(T - 1) r. Returns are those of the float32 rewards, so a walk on the front has its very numbers. Empty
        where E is too far. What the walks earn is computed once, and a front once for each gamma. The signature is that
        of MO-Gymnasium's environments, and the result is what MORL-Baselines takes as `known_pareto_front`.

        Raises:
            ValueError: gamma outside [0, 1], no fixed maze, or a maze with more than 20 items (of a file).
        """
        return self._world.pareto_front(gamma, self._name)

    def _whole_number(self, action: Any) -> int:
        try:
            return index(action)
        except TypeError:
            raise TypeError(f"{self._name}: an action is a whole number, not {type(action).__name__}") from None

    def render(self) -> Any:
        """The maze and the way walked so far: text, or uint8 (h, w, 3); None without a render mode."""
        if self.render_mode is None or self._grid is None:
            return None
        if self.render_mode == "rgb_array":
            return draw_rgb(self._maze, [self._route])
        rewards = np.array([self._outcome], np.float32)
        return draw_ansi(self._maze, [self._route], rewards, [o.name for o in self.objectives])
