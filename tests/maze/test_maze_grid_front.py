"""The discounted front of a fixed maze against an enumeration of all walks, and against its own state table."""

from __future__ import annotations

import pickle
from random import Random

import gymnasium as gym
import numpy as np
import pytest
from maze_helpers import maze_of, random_small_maze

from vpo_envs.maze import Maze, MazeTask
from vpo_envs.maze.grid_env import MazeGridEnv
from vpo_envs.maze.grid_states import state_table
from vpo_envs.maze.pareto import attainable_vectors, discounted_front, pareto_front
from vpo_envs.maze.rewards import ScoreMode, reward_of

GAMMAS = (1.0, 0.97, 0.8, 0.3, 0.0)
Vector = tuple[float, ...]


def returns_of_all_walks(maze: Maze, score_mode: ScoreMode, gamma: float) -> set[Vector]:
    """The discounted return of every sequence of moves that ends on E within the budget."""
    found: set[Vector] = set()

    def go(cell: int, visited: int, steps: int) -> None:
        for there in maze.next_cell[cell]:
            if there == maze.exit:
                reward = np.float32(reward_of(maze, visited, score_mode)).astype(np.float64)
                found.add(tuple((gamma**steps * reward).tolist()))  # rewards of earlier steps are zero
            elif steps + 1 < maze.max_steps:
                go(there, visited | 1 << there, steps + 1)

    go(maze.start, 0, 0)
    return found


def undominated(points: set[Vector]) -> list[Vector]:
    return sorted(
        p for p in points if not any(q != p and all(x >= y for x, y in zip(q, p, strict=True)) for q in points)
    )


@pytest.mark.parametrize("mode", ["linear", "convex_bonus"])
def test_the_front_is_that_of_all_walks_on_random_small_mazes(mode):
    rng = Random(0)
    grown = shrunk = 0
    for _ in range(30):
        maze = random_small_maze(rng)
        attainable = attainable_vectors(maze, mode)
        sizes = {}
        for gamma in GAMMAS:
            expected = undominated(returns_of_all_walks(maze, mode, gamma))
            front = discounted_front(attainable, gamma)
            assert front.dtype == np.float64
            assert front.shape == (len(expected), 4)
            assert front.tolist() == [list(p) for p in expected], (maze, gamma)
            sizes[gamma] = len(front)
        grown += sizes[0.97] > sizes[1.0]
        shrunk += sizes[0.3] < sizes[0.97]
    assert grown  # a poorer vector that is earned sooner
    assert shrunk  # and a richer one for which it is not worth while to walk on


def test_a_front_by_hand():
    maze = maze_of("S E\nG .\n# #", max_steps=8)
    assert attainable_vectors(maze) == {(1, 0, 1, 1): 1, (1, 1, 1, 1): 3}
    assert discounted_front(attainable_vectors(maze), 1.0).tolist() == [[1, 1, 1, 1]]
    assert discounted_front(attainable_vectors(maze), 0.5).tolist() == [[0.25, 0.25, 0.25, 0.25], [1, 0, 1, 1]]


@pytest.mark.parametrize(("size", "slack", "problem"), [(5, 4, 0), (6, 5, 1), (9, 7, 4)])
def test_backward_induction_over_the_states_finds_the_same_front(size, slack, problem):
    maze = MazeTask(size=size, slack=slack)[problem]
    table = state_table(maze)
    decisions = table.num_states - len(table.outcomes)
    gamma = 0.9
    # States are numbered in the order in which they are reached, so values are complete from the last one backwards.
    values: list[set[Vector]] = [set() for _ in range(decisions)]
    for state in range(decisions - 1, -1, -1):
        returns: set[Vector] = set()
        for there in set(table.successors[state].tolist()):
            if there >= decisions:
                returns.add(tuple(table.outcomes[there - decisions].tolist()))
            else:
                returns |= {tuple(round(gamma * x, 9) for x in value) for value in values[there]}
        values[state] = set(undominated(returns))
    expected = np.array(sorted(values[0]))
    env = MazeGridEnv(size=size, slack=slack, maze=problem)
    assert np.allclose(env.pareto_front(gamma), expected, atol=1e-6)
    assert len(expected) > 1


@pytest.mark.parametrize("mode", ["linear", "convex_bonus"])
def test_the_hook_of_mo_gymnasium(mode):
    env = gym.make("vpo/MazeGrid-v0", maze=2, score_mode=mode)
    task = MazeTask(score_mode=mode)
    front = env.unwrapped.pareto_front(gamma=1.0)
    assert np.array_equal(np.float32(front), pareto_front(task[2], mode))
    assert np.array_equal(env.unwrapped.pareto_front(), front)
    assert all(p.shape == (4,) and p.dtype == np.float64 for p in front)
    vector = gym.make_vec("vpo/MazeGrid-v0", num_envs=2, maze=2, score_mode=mode)
    assert np.array_equal(vector.unwrapped.pareto_front(0.9), env.unwrapped.pareto_front(0.9))
    assert not np.array_equal(env.unwrapped.pareto_front(0.9), front)


def test_the_front_is_computed_once_and_handed_out_as_copies(monkeypatch):
    env = MazeGridEnv(maze=0)
    first = env.pareto_front(0.99)
    copy = pickle.loads(pickle.dumps(env))
    for module in ("attainable_vectors", "discounted_front"):
        monkeypatch.setattr(f"vpo_envs.maze.grid_world.{module}", None)
    kept = np.array(first)
    first[0][:] = 7
    assert np.array_equal(env.pareto_front(0.99), kept)
    assert np.array_equal(copy.pareto_front(0.99), kept)


def test_returns_of_real_episodes_lie_on_or_below_the_front():
    env = MazeGridEnv(size=5, slack=4, maze=1, observation="state")
    gamma, rng = 0.95, Random(0)
    front = np.array(env.pareto_front(gamma))
    on_it = set()
    for _ in range(8000):
        env.reset()
        total, steps, ended = np.zeros(4), 0, False
        while not ended:
            _, reward, ended, *_ = env.step(rng.randrange(4))
            total += gamma**steps * reward.astype(np.float64)
            steps += 1
        assert (front >= total).all(axis=1).any()
        on_it |= {i for i in range(len(front)) if np.array_equal(front[i], total)}
    assert on_it  # some have the very numbers of the front


def test_faults():
    with pytest.raises(ValueError, match="every episode has a maze and a front of its own; fix one with maze=i"):
        MazeGridEnv().pareto_front(0.9)
    for gamma in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="gamma must be from 0 to 1"):
            MazeGridEnv(maze=0).pareto_front(gamma)
    assert discounted_front(attainable_vectors(maze_of("S # E")), 0.9).shape == (0, 4)
