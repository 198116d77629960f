"""MazeGridVectorEnv: n walks through mazes at once, as NumPy arrays. `gym.make_vec("vpo/MazeGrid-v0", num_envs=n)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from vpo_envs.maze.grid_world import PLANES, GridWorld, ObservationKind, open_moves
from vpo_envs.maze.rewards import reward_of
from vpo_envs.sub_envs import check_num_envs, one_each, seeded_generators
from vpo_envs.text_env import reward_space


class MazeGridVectorEnv(VectorEnv[NDArray[Any], NDArray[np.integer], NDArray[np.float32]]):
    """`num_envs` environments `vpo/MazeGrid-v0` in one: see `MazeGridEnv` for the mazes, observations and rewards.

    For the same seeds and actions every sub-environment gives what a single `MazeGridEnv` gives. Rewards are float32
    (n, 4). `reset(seed=[...])` takes a seed per sub-environment, or one int s, meaning s, s + 1, ...;
    `reset(options={"problem": [...]})` picks the mazes. `infos["problem"]` holds the numbers of the mazes.

    ## Arguments
    `num_envs`, those of `MazeGridEnv` but `render_mode`, and `autoreset_mode`, an `AutoresetMode` or its value:
    * `"NextStep"` (default): the step after the end of an episode ignores the action and starts the next one, with
      reward 0.
    * `"SameStep"`: the last step of an episode shows the first observation of the next one; `infos["final_obs"]` and
      `infos["final_info"]` hold what it ended with.

    ## Version History
    v0: first version.
    """

    metadata = VectorEnv.metadata | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        observation: ObservationKind = "planes",
        maze: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **task_kwargs: Any,
    ) -> None:
        if task_kwargs.pop("render_mode", None) is not None:
            raise ValueError(f"{self._name}: the batched environment does not render; use gym.make for one that does")
        if autoreset_mode not in (modes := (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)):
            if autoreset_mode not in (values := [mode.value for mode in modes]):
                raise ValueError(f"{self._name}: autoreset_mode must be one of {values}, not {autoreset_mode!r}")
            autoreset_mode = AutoresetMode(autoreset_mode)
        self._same_step = autoreset_mode == AutoresetMode.SAME_STEP
        self.metadata = self.metadata | {"autoreset_mode": autoreset_mode}
        self.num_envs = n = check_num_envs(num_envs, self._name)
        self._world = GridWorld(self._name, observation, maze, task_kwargs)
        self.task = self._world.task
        self.single_observation_space = self._world.observation_space
        self.single_action_space = spaces.Discrete(4)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self.reward_space = reward_space(self.task)
        self.reward_dim = self.task.reward_dim
        self.objectives = self.task.objectives
        self.reference_weights = self.task.reference_weights
        self._rngs: list[np.random.Generator] | None = None
        self._open = False
        # One row for each walk; the names are those of GridMaze and MazeGridEnv.
        area = self._world.area
        self._next_cell = np.zeros((n, area, 4), np.int32)
        self._cleared = np.zeros((n, area), np.int32)
        self._seen = np.zeros((n, area), np.bool_)
        self._problem, self._cell, self._exit, self._left, self._budget = np.zeros((5, n), np.int64)
        self._problem -= 1  # no maze yet
        self._ended = np.zeros(n, np.bool_)  # walks that start anew in the next step
        self._state = np.zeros(n, np.int64)
        self._board = np.zeros((n, len(PLANES) * area + 1) if observation == "planes" else (n, 0), np.float32)

    @property
    def _name(self) -> str:
        return self.spec.id if self.spec is not None else "vpo/MazeGrid-v0"

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Put every agent on S.

        Raises:
            ValueError: an unknown option, a list of seeds or mazes whose length is not `num_envs`, or a bad value in
                it. No episodes are open then.
        """
        self._open = False
        chosen = self._world.check_option(options, self._name)
        self._rngs = seeded_generators(seed, self._rngs, self.num_envs, self._name)
        problems = [self._world.draw(rng) for rng in self._rngs]
        if chosen is not None:
            one_each("options['problem']", chosen, self.num_envs, self._name)
            problems = [self._world.check_problem(i, self._name) for i in chosen]
        self._begin(range(self.num_envs), problems)
        self._ended[:] = False
        self._open = True
        return self._observations(), self._infos()

    def _begin(self, rows: Sequence[int], problems: list[int]) -> None:
        """Put the agents of these rows on the start of these mazes."""
        for i, problem in zip(rows, problems, strict=True):
            grid = self._world.mazes[problem]
            if self._problem[i] != problem:
                self._problem[i] = problem
                self._next_cell[i], self._cleared[i] = grid.next_cell, grid.cleared
                self._exit[i], self._budget[i] = grid.maze.exit, grid.maze.max_steps
            self._cell[i] = grid.maze.start
            if self._board.size:
                self._board[i] = grid.planes
        self._left[rows] = self._budget[rows]
        self._seen[rows] = False
        self._state[rows] = 0

    def _observations(self) -> NDArray[Any]:
        if self._world.observation == "planes":
            return self._board.copy()
        return self._state.copy() if self._world.observation == "state" else self._state[:, None].copy()

    def _infos(self) -> dict[str, Any]:
        return {"problem": self._problem.copy(), "_problem": np.ones(self.num_envs, np.bool_)}

    def step(  # type: ignore[override]  # Gymnasium types the flags like the rewards
        self, actions: NDArray[np.integer]
    ) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Make one move in each walk.

        Raises:
            TypeError: actions that are not whole numbers.
            ValueError: actions that are not (num_envs,), or one that is not 0, 1, 2 or 3.
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        actions = self._checked(actions)
        if not self._open or self._rngs is None:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before step(); no episodes are open")
        n, walking = self.num_envs, ~self._ended
        first = np.arange(0, n * self._world.area, self._world.area)  # of each row, in flat views
        here, there = self._cell, self._next_cell.reshape(-1)[(first + self._cell) * 4 + actions]
        self._cell = there.astype(np.int64)
        self._left -= 1
        self._seen.reshape(-1)[first + there] = True
        if self._world.states is not None:
            self._state = self._world.states.successors.reshape(-1)[self._state * 4 + actions].astype(np.int64)
        else:
            self._draw_move(here, there, self._cleared.reshape(-1)[first + there])
        arrived = (there == self._exit) & walking
        terminated = (arrived | (self._left == 0)) & walking
        rewards = np.zeros((n, 4), np.float32)
        for i, visited in zip(*self._visited(np.flatnonzero(arrived)), strict=True):
            maze = self._world.mazes[int(self._problem[i])].maze
            rewards[i] = reward_of(maze, visited, self.task.score_mode)

        restart, final = self._ended, {}
        if self._same_step:
            restart = terminated
            final = self._final_infos(terminated) if terminated.any() else {}
        else:
            self._ended = terminated.copy()
        rows = np.flatnonzero(restart).tolist()
        self._begin(rows, [self._world.draw(self._rngs[i]) for i in rows])
        return self._observations(), rewards, terminated, np.zeros(n, np.bool_), self._infos() | final

    def _checked(self, actions: Any) -> NDArray[np.integer]:
        actions = np.asarray(actions)
        if actions.dtype.kind not in "iu":
            raise TypeError(f"{self._name}: actions are whole numbers, not {actions.dtype}")
        if actions.shape != (self.num_envs,):
            raise ValueError(f"{self._name}: actions must have shape ({self.num_envs},), not {actions.shape}")
        if ((actions < 0) | (actions > 3)).any():
            bad = int(np.flatnonzero((actions < 0) | (actions > 3))[0])
            raise ValueError(
                f"{self._name}: an action is 0 UP, 1 DOWN, 2 LEFT or 3 RIGHT, not {actions[bad]} (environment {bad})"
            )
        return actions

    def _draw_move(self, here: NDArray[np.integer], there: NDArray[np.integer], cleared: NDArray[np.integer]) -> None:
        """Bring the planes up to date."""
        flat, width = self._board.reshape(-1), self._board.shape[1]
        first = np.arange(0, len(flat), width)
        agent = first + (len(PLANES) - 1) * self._world.area
        flat[first + cleared] = 0.0
        flat[agent + here] = 0.0
        flat[agent + there] = 1.0
        self._board[:, -1] = self._left / self._budget

    def _visited(self, rows: NDArray[np.integer]) -> tuple[list[int], list[int]]:
        """The rows, and for each the set of cells stepped on, as `reward_of` takes it."""
        packed = np.packbits(self._seen[rows], axis=1, bitorder="little")
        return rows.tolist(), [int.from_bytes(row.tobytes(), "little") for row in packed]

    def _final_infos(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """What the walks that have just ended show last, in the form that Gymnasium's vector environments give it."""
        final_obs = np.full(self.num_envs, None, object)
        observations = self._observations()
        for i in np.flatnonzero(ended):
            final_obs[i] = observations[i].copy()
        problem = {"problem": np.where(ended, self._problem, 0), "_problem": ended.copy()}
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": problem,
            "_final_info": ended.copy(),
        }

    def action_masks(self) -> NDArray[np.bool_]:
        """Which moves lead to another cell, bool (n, 4); all four where none does.

        Raises:
            gymnasium.error.ResetNeeded: `reset` has not been called.
        """
        if not self._open:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before action_masks()")
        return open_moves(self._next_cell[np.arange(self.num_envs), self._cell], self._cell)

    def pareto_front(self, gamma: float = 1.0) -> list[NDArray[np.float64]]:
        """The exact front of the fixed maze; see `MazeGridEnv.pareto_front`."""
        return self._world.pareto_front(gamma, self._name)
