"""The numbered states of a maze against a plain simulation, and environments that show them."""

from __future__ import annotations

import json
from random import Random

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers import LinearReward
from maze_helpers import maze_of, random_small_maze

from vpo_envs.maze import Maze, MazeTask, grid_states
from vpo_envs.maze.grid_env import MazeGridEnv
from vpo_envs.maze.grid_states import StateTable, state_table
from vpo_envs.maze.rewards import reward_of

Outcome = tuple[float, ...]


def simulate(maze: Maze, moves: list[int], score_mode: str) -> Outcome | None:
    """The reward vector if the walk has ended after these moves, else None."""
    cell, visited = maze.start, 0
    for move in moves:
        cell = maze.next_cell[cell][move]
        if cell == maze.exit:
            return tuple(np.float32(reward_of(maze, visited, score_mode)).tolist())
        visited |= 1 << cell
    return (0.0,) * 4 if len(moves) == maze.max_steps else None


def follow(table: StateTable, moves: list[int]) -> int:
    state = 0
    for move in moves:
        state = int(table.successors[state, move])
    return state


def outcome(table: StateTable, state: int) -> Outcome | None:
    j = state - (table.num_states - len(table.outcomes))
    return tuple(table.outcomes[j].tolist()) if j >= 0 else None


@pytest.mark.parametrize("mode", ["linear", "convex_bonus"])
def test_every_sequence_of_moves_ends_as_the_walk_does(mode):
    rng = Random(0)
    for _ in range(25):
        maze = random_small_maze(rng)
        maze = Maze(maze.rows, min(maze.max_steps, 6))
        table = state_table(maze, mode)
        reached = set()

        def go(moves: list[int], maze=maze, table=table, reached=reached) -> None:
            state = follow(table, moves)
            reached.add(state)
            expected = simulate(maze, moves, mode)
            assert outcome(table, state) == expected, (maze, moves)
            if expected is None:
                for move in range(4):
                    go([*moves, move])

        go([])
        assert reached == set(range(table.num_states))  # no state is there for nothing


def test_generated_mazes_and_the_paths_between_their_states():
    rng = Random(1)
    for size, slack in ((5, 4), (9, 7)):
        task = MazeTask(size=size, slack=slack)
        for i in range(5):
            maze, table = task[i], state_table(task[i])
            decisions = table.num_states - len(table.outcomes)
            assert table.successors.shape == (table.num_states, 4)
            assert (table.successors[:decisions] > np.arange(decisions)[:, None]).all()  # time only goes forward
            assert set(table.successors[:decisions].ravel()) == set(range(1, table.num_states))
            assert len(np.unique(table.outcomes, axis=0)) == len(table.outcomes)
            for _ in range(50):
                moves = rng.choices(range(4), k=maze.max_steps)
                ends = [t for t in range(maze.max_steps + 1) if simulate(maze, moves[:t], "linear") is not None]
                assert outcome(table, follow(table, moves[: ends[0]])) == simulate(maze, moves[: ends[0]], "linear")
                assert outcome(table, follow(table, moves[: ends[0] - 1])) is None


def test_a_table_by_hand():
    table = state_table(maze_of("S E", max_steps=2))
    # 0 start, 1 on S with one step left, 2 out of steps, 3 arrived.
    assert table.successors.tolist() == [[1, 1, 1, 3], [2, 2, 2, 3], [2] * 4, [3] * 4]
    assert table.outcomes.tolist() == [[0, 0, 0, 0], [1, 1, 1, 1]]
    too_far = state_table(maze_of("S . . E", max_steps=2))
    assert too_far.successors.tolist() == [[1] * 4, [2] * 4, [2] * 4]
    assert too_far.outcomes.tolist() == [[0, 0, 0, 0]]


def test_too_many_states_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="the maze has more than 1,000,000 states, too large for a table; use observ"):
        state_table(maze_of("S # E", max_steps=10**12))
    with pytest.raises(ValueError, match="the maze has 41 item cells, too large"):
        state_table(maze_of("S" + "G" * 41 + "E", max_steps=60))
    maze = MazeTask()[0]
    for limit in (state_table(maze).num_states - 100, 2000):
        monkeypatch.setattr(grid_states, "MAX_STATES", limit)
        with pytest.raises(ValueError, match=f"more than {limit:,} states"):
            gym.make("vpo/MazeGrid-v0", observation="state", maze=0)
    gym.make("vpo/MazeGrid-v0", maze=0)


@pytest.mark.parametrize("mode", ["linear", "convex_bonus"])
def test_the_environment_walks_the_table(mode):
    arguments = {"size": 6, "slack": 5, "maze": 3, "score_mode": mode}
    planes, states, arrays = (
        gym.make("vpo/MazeGrid-v0", observation=kind, **arguments) for kind in ("planes", "state", "state_array")
    )
    table = state_table(MazeTask(size=6, slack=5, score_mode=mode)[3], mode)
    assert states.observation_space == gym.spaces.Discrete(table.num_states)
    assert arrays.observation_space == gym.spaces.MultiDiscrete([table.num_states])
    rng = Random(2)
    for seed in range(60):
        planes.reset(seed=seed)
        state, info = states.reset(seed=seed)
        assert state == 0
        assert info == {"problem": 3}
        assert arrays.reset(seed=seed)[0].tolist() == [0]
        ended = False
        while not ended:
            move = rng.choice((0, 1, 2, 3))
            _, reward, ended, *_ = planes.step(move)
            following, same_reward, same_end, *_ = states.step(move)
            array, third_reward, third_end, *_ = arrays.step(move)
            assert following == table.successors[state, move] == array[0]
            assert states.observation_space.contains(following)
            assert arrays.observation_space.contains(array)
            assert np.array_equal(reward, same_reward)
            assert np.array_equal(reward, third_reward)
            assert ended == same_end == third_end == (outcome(table, following) is not None)
            assert not ended or outcome(table, following) == tuple(reward.tolist())
            state = following


@pytest.mark.parametrize("observation", ["planes", "state", "state_array"])
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.filterwarnings("error")
def test_gymnasiums_checker_is_satisfied_with_a_fixed_maze(observation):
    check_env(LinearReward(gym.make("vpo/MazeGrid-v0", size=5, slack=4, observation=observation, maze=0)))


def test_arrays_of_states_are_nobody_elses():
    env = MazeGridEnv(maze=0, observation="state_array")
    first, _ = env.reset()
    first[:] = 5
    second = env.step(1)[0]
    assert second.tolist() == [state_table(MazeTask()[0]).successors[0, 1]]


def test_a_fixed_maze_is_shown_in_every_episode():
    env = gym.make("vpo/MazeGrid-v0", maze=7)
    first = MazeGridEnv().reset(options={"problem": 7})[0]
    for seed in (0, 1, None, None):
        observation, info = env.reset(seed=seed)
        assert info["problem"] == 7
        assert np.array_equal(observation, first)
    assert env.reset(options={"problem": 7})[1]["problem"] == 7
    with pytest.raises(ValueError, match=r"options\['problem'\] is 8, but maze=7 is fixed"):
        env.reset(options={"problem": 8})


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_bad_arguments(make):
    for maze in (1000, -1, True, 2.0):
        with pytest.raises(ValueError, match=r"vpo/MazeGrid-v0: maze must be 0..999 \(train split\), or None"):
            make("vpo/MazeGrid-v0", maze=maze)
    with pytest.raises(ValueError, match="observation='state' numbers the states of one maze; name it with maze=0 to"):
        make("vpo/MazeGrid-v0", observation="state")
    with pytest.raises(ValueError, match="observation must be one of 'planes', 'state', 'state_array', not 'pixels'"):
        make("vpo/MazeGrid-v0", observation="pixels")


def test_action_masks_name_the_moves_that_lead_somewhere(tmp_path):
    path = tmp_path / "closed.jsonl"
    path.write_text(json.dumps({"grid": "S # .\n. . E", "max_steps": 9}))
    env = gym.make("vpo/MazeGrid-v0", data=str(path))
    with pytest.raises(gym.error.ResetNeeded, match="before action_masks"):
        env.unwrapped.action_masks()
    env.reset()
    masks = env.get_wrapper_attr("action_masks")
    assert masks().tolist() == [False, True, False, False]
    env.step(1)
    mask = masks()
    assert mask.dtype == np.bool_
    assert mask.tolist() == [True, False, False, True]
    mask[:] = False
    assert masks().any()
    path.write_text(json.dumps({"grid": "S # E", "max_steps": 9}))
    closed = MazeGridEnv(data=str(path))
    closed.reset()
    assert closed.action_masks().all()  # one move has to be made


def test_masked_moves_are_those_that_change_the_cell():
    env = MazeGridEnv(observation="planes")
    rng = Random(3)
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            mask, move = env.action_masks(), rng.randrange(4)
            following, _, ended, *_ = env.step(move)
            assert mask[move] == (not np.array_equal(observation[-82:-1], following[-82:-1]))
            observation = following
