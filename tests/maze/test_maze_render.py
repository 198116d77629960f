"""Pictures of mazes: everything that matters can be told apart in them."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from maze_helpers import maze_of

import vpo_envs  # noqa: F401
from vpo_envs.maze import MazeTask
from vpo_envs.maze.render import ROUTE_COLORS, draw_ansi, draw_rgb
from vpo_envs.text_env import TextEnv

NAMES = ("completion", "gold", "diamond", "avoid_lava")
MAZE = maze_of(
    """
    S G # D
    . L B .
    . . . E
    """,
    max_steps=9,
)
OVER_GOLD = [0, 1, 5, 6, 7, 11]
ALONG_THE_EDGE = [0, 4, 8, 9, 10, 11]


def pixels_of(image, color) -> int:
    return int((image == np.array(color, np.uint8)).all(axis=2).sum())


def test_text_shows_grid_budget_routes_and_named_values():
    rewards = np.array([[1, 1, 0, 0], [1, 0, 0.25, 1], [0, 0, 0, 0]], np.float32)
    text = draw_ansi(MAZE, [OVER_GOLD, ALONG_THE_EDGE, []], rewards, NAMES)
    assert text == "\n".join(
        [
            "3 x 4 maze, 9 steps",
            "S G # D",
            ". L B .",
            ". . . E",
            "",
            "route 1: reaches E, 5 cells from S",
            "completion=1.00  gold=1.00  diamond=0.00  avoid_lava=0.00",
            "S→G↓# D",
            ". L→B→.↓",
            ". . . E",
            "",
            "route 2: reaches E, 5 cells from S",
            "completion=1.00  gold=0.00  diamond=0.25  avoid_lava=1.00",
            "S↓G # D",
            ".↓L B .",
            ".→.→.→E",
            "",
            "route 3: no answer",
            "completion=0.00  gold=0.00  diamond=0.00  avoid_lava=0.00",
        ]
    )


@pytest.mark.parametrize("cell", [8, 21, 32])
def test_the_picture_has_whole_tiles(cell):
    image = draw_rgb(MAZE, [OVER_GOLD], cell)
    assert image.shape == (3 * cell, 4 * cell, 3)
    assert image.dtype == np.uint8


def test_each_kind_of_tile_looks_different():
    image = draw_rgb(maze_of("S E . # G D L B"), [], cell=32)
    tiles = [image[:, 32 * i : 32 * (i + 1)].astype(int) for i in range(8)]
    for i, one in enumerate(tiles):
        for other in tiles[:i]:
            # In at least a twentieth of the pixels, by more than shading.
            assert (abs(one - other).max(axis=2) > 60).mean() > 0.05


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_routes_over_the_same_cells_all_stay_visible(count):
    image = draw_rgb(MAZE, [ALONG_THE_EDGE] * count)
    assert all(pixels_of(image, color) > 30 for color in ROUTE_COLORS[:count])
    assert not any(pixels_of(image, color) for color in ROUTE_COLORS[count:])


def test_a_route_is_drawn_where_it_leads():
    image = draw_rgb(MAZE, [ALONG_THE_EDGE])
    on_route = (image == np.array(ROUTE_COLORS[0], np.uint8)).all(axis=2)
    tiles = on_route.reshape(3, 32, 4, 32).any(axis=(1, 3))
    assert tiles.tolist() == [[True, False, False, False], [True, False, False, False], [True] * 4]


def test_a_route_that_goes_nowhere_is_a_dot_and_absent_answers_are_nothing():
    assert np.array_equal(draw_rgb(MAZE, [[]]), draw_rgb(MAZE, []))
    stopped, arrived = draw_rgb(MAZE, [[0, 4, 8]]), draw_rgb(MAZE, [ALONG_THE_EDGE])
    tile = np.s_[64:96, 0:32]  # row 2, column 0
    assert pixels_of(stopped[tile], ROUTE_COLORS[0]) > pixels_of(arrived[tile], ROUTE_COLORS[0]) / 2
    assert draw_rgb(MAZE, [[0]]).shape == (96, 128, 3)


def test_more_routes_than_colours_are_drawn():
    assert draw_rgb(MAZE, [ALONG_THE_EDGE] * 40).shape == (96, 128, 3)


def test_tiles_of_a_few_pixels_are_refused():
    with pytest.raises(ValueError, match="at least 8 pixels, not 7"):
        draw_rgb(MAZE, [], cell=7)


def test_the_environment_renders_before_and_after_the_answer():
    task = MazeTask()
    picture = gym.make("vpo/Maze-v0", render_mode="rgb_array")
    picture.reset(options={"problem": 0})
    assert np.array_equal(picture.render(), draw_rgb(task[0], []))
    text = gym.make("vpo/Maze-v0", render_mode="ansi", num_answers=2)
    text.reset(options={"problem": 0})
    assert "route" not in text.render()
    text.step("<route_1>UP</route_1>")
    assert "route 1: does not reach E" in text.render()
    assert "route 2: no answer" in text.render()
    with pytest.raises(ValueError, match="render_mode must be one of"):
        TextEnv(task, render_mode="human")
