"""The reward of a walk, worked out by hand on small mazes."""

from __future__ import annotations

import numpy as np
import pytest
from maze_helpers import maze_of

from vpo_envs.maze import MazeTask
from vpo_envs.maze.rewards import route

LINEAR, CONVEX = MazeTask(), MazeTask(score_mode="convex_bonus")

MAZE = maze_of(
    """
    S G G
    L # D
    L B E
    """,
    max_steps=6,
)


@pytest.mark.parametrize(
    ("moves", "reward"),
    [
        ("RIGHT RIGHT DOWN DOWN", (1, 1, 1, 1)),
        ("DOWN DOWN RIGHT RIGHT", (1, 0, 0, 0)),
        ("RIGHT LEFT DOWN DOWN RIGHT RIGHT", (1, 0.5, 0, 0)),
        ("DOWN UP RIGHT RIGHT DOWN DOWN", (1, 1, 1, 0.5)),
        ("RIGHT RIGHT DOWN", (0, 0, 0, 0)),
        ("LEFT LEFT LEFT", (0, 0, 0, 0)),
        ("", (0, 0, 0, 0)),
    ],
    ids=["treasures", "lava", "half the gold", "half the lava", "E not reached", "only blocked moves", "no moves"],
)
def test_each_objective_is_the_share_that_was_collected_or_avoided(moves, reward):
    assert LINEAR.score(MAZE, moves) == pytest.approx(reward)


def test_blocked_moves_cost_a_step():
    assert LINEAR.score(MAZE, "UP LEFT RIGHT RIGHT DOWN DOWN")[0] == 1  # two borders and four moves: the budget of 6
    assert LINEAR.score(MAZE, "RIGHT DOWN DOWN RIGHT DOWN DOWN")[0] == 1  # two bumps into the wall
    assert LINEAR.score(MAZE, "UP UP UP RIGHT RIGHT DOWN DOWN") == pytest.approx([0, 0, 0, 0])


def test_the_walk_ends_on_the_exit():
    maze = maze_of("S E G")
    assert LINEAR.score(maze, "RIGHT RIGHT LEFT") == pytest.approx([1, 0, 1, 1])


def test_an_item_counts_once():
    maze = maze_of("S G E \n . . G")
    assert LINEAR.score(maze, "RIGHT LEFT RIGHT LEFT RIGHT RIGHT") == pytest.approx([1, 0.5, 1, 1])


def test_lava_counts_by_distinct_cells():
    maze = maze_of("S L L E \n L L . .")
    assert LINEAR.score(maze, "RIGHT LEFT RIGHT LEFT RIGHT RIGHT RIGHT") == pytest.approx([1, 1, 1, 0.5])


def test_moves_after_the_budget_do_not_happen():
    maze = maze_of("S . . E", max_steps=2)
    assert LINEAR.score(maze, "RIGHT RIGHT RIGHT") == pytest.approx([0, 0, 0, 0])
    assert LINEAR.score(maze_of("S . . E", max_steps=3), "RIGHT RIGHT RIGHT")[0] == 1


def test_what_a_maze_lacks_is_collected_and_avoided_in_full():
    assert LINEAR.score(maze_of("S E"), "RIGHT") == pytest.approx([1, 1, 1, 1])


@pytest.mark.parametrize(
    ("moves", "linear", "convex"),
    [
        ("RIGHT RIGHT RIGHT RIGHT", (1, 0.5, 0, 1), (1, 0.25, 0, 1)),
        ("RIGHT DOWN UP RIGHT RIGHT RIGHT", (1, 0.5, 0, 1), (1, 0.375, 0, 1)),
        ("RIGHT DOWN LEFT RIGHT UP RIGHT RIGHT RIGHT", (1, 1, 0, 1), (1, 1, 0, 1)),
        ("RIGHT RIGHT DOWN UP RIGHT RIGHT", (1, 0.5, 1 / 3, 1), (1, 0.25, 1 / 9, 1)),
        ("RIGHT DOWN RIGHT RIGHT RIGHT UP", (1, 0.5, 1, 1), (1, 0.375, 1, 1)),
    ],
    ids=["squared", "times 1.5 for the bonus", "clipped at 1", "no bonus", "diamonds too"],
)
def test_convex_bonus_by_hand(moves, linear, convex):
    maze = maze_of(
        """
        S G . . E
        G B D D D
        """
    )
    assert LINEAR.score(maze, moves) == pytest.approx(linear)
    assert CONVEX.score(maze, moves) == pytest.approx(convex)


def test_convex_bonus_does_nothing_for_a_walk_that_does_not_arrive():
    assert CONVEX.score(MAZE, "RIGHT RIGHT DOWN") == pytest.approx([0, 0, 0, 0])


def test_a_batch_scores_like_its_members():
    maze = maze_of("S . G E")
    problems = [MAZE, maze, MAZE]
    answers = ["RIGHT RIGHT DOWN DOWN", "RIGHT RIGHT RIGHT", "nothing"]
    rewards = LINEAR.score_batch(problems, answers)
    assert rewards.dtype == np.float32
    assert np.array_equal(rewards, [LINEAR.score(p, a) for p, a in zip(problems, answers, strict=True)])
    assert rewards[:, 0].tolist() == [1, 1, 0]
    assert LINEAR.score_batch([], []).shape == (0, 4)
    with pytest.raises(ValueError, match="zip"):
        LINEAR.score_batch(problems, answers[:2])


def test_a_route_is_the_cells_walked_through_without_the_bumps():
    assert route(MAZE, [0, 3, 1, 3, 1, 1, 2]) == [0, 1, 2, 5, 8]  # UP and the bump at (0, 1) stay, the end is E
    assert route(MAZE, [3, 2] * 5) == [0, 1, 0, 1, 0, 1, 0]  # six steps
    assert route(MAZE, []) == [0]
