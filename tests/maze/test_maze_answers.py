"""What counts as an answer, and which moves are in it."""

from __future__ import annotations

from random import Random

import gymnasium as gym
import numpy as np
import pytest

import vpo_envs  # noqa: F401
from vpo_envs.maze import MazeTask
from vpo_envs.maze.task import parse_moves

TASK = MazeTask()
UP, DOWN, LEFT, RIGHT = range(4)


def moves_in(response: str) -> list[int] | None:
    answer = TASK.extract(response)
    return None if answer is None else parse_moves(answer)


@pytest.mark.parametrize(
    ("response", "moves"),
    [
        ("<answer>UP DOWN LEFT RIGHT</answer>", [UP, DOWN, LEFT, RIGHT]),
        ("<ANSWER>up Down lEfT\tright\n</Answer>", [UP, DOWN, LEFT, RIGHT]),
        ("< answer >UP< / answer >", [UP]),
        ("<answer>UP,DOWN, LEFT ,RIGHT,</answer>", [UP, DOWN, LEFT, RIGHT]),
        ("<answer>RIGHT (0,1) DOWN (1,1)</answer>", [RIGHT, DOWN]),
        ("<answer>First RIGHT, then we go DOWN</answer>", [RIGHT, DOWN]),
        ("<answer>RIGHTDOWN UP. upward</answer>", []),
        ("I think RIGHT.\n<answer>DOWN</answer> is best, not LEFT", [DOWN]),
        ("<answer></answer>", []),
        ("<answer>r\u0131ght DOWN UP\uff01 \uff35\uff30</answer>", [DOWN]),  # a dotless i, fullwidth letters
    ],
)
def test_moves_inside_tags(response, moves):
    assert moves_in(response) == moves


def test_a_bare_list_of_moves_is_an_answer_and_prose_is_not():
    assert moves_in("right, down\nDOWN") == [RIGHT, DOWN, DOWN]
    assert moves_in("I go RIGHT and then DOWN") is None
    assert moves_in("RIGHT (0,1)") is None
    assert moves_in("") is None
    assert moves_in("  ,, \n") is None
    assert moves_in("r\u0131ght") is None


@pytest.mark.parametrize(
    ("response", "moves"),
    [
        ("<answer>UP</answer> or rather <answer>DOWN</answer>", [DOWN]),
        ("<answer>UP</answer> or rather <answer>DOWN", [UP]),
        ("<answer>UP <answer>DOWN</answer> LEFT</answer>", [DOWN]),
        ("<answer>UP", None),
        ("</answer>UP<answer>", None),
        ("</answer>so UP<answer>", None),
        ("<answer>so UP", None),
        ("<answer/>so UP</answer>", None),
        ("\x00\x01\ufffd\ud800<answer>\x00 UP \udfff DOWN</answer>", [UP, DOWN]),
        ("<answer>\u202eUP\u3000DOWN\u00a0LEFT</answer>", [DOWN, LEFT]),
    ],
)
def test_of_broken_and_repeated_elements_the_last_complete_one_counts(response, moves):
    assert moves_in(response) == moves


@pytest.mark.parametrize(
    "text",
    [
        "<answer>" * 125_000,
        "<answer>UP</answer>" * 50_000,
        "<" + " " * 1_000_000 + "answer>",
        "< " * 500_000,
        "<answer>" + "UP " * 300_000 + "</answer>",
        "<answer" + " " * 1_000_000,
        "</answer>" * 100_000,
        "\x00" * 1_000_000,
        "<answer>" + "\u0131 UP," * 200_000 + "</answer>",
    ],
    ids=["openings", "elements", "spaces before", "brackets", "moves", "spaces after", "closings", "zeros", "foreign"],
)
def test_a_million_characters_are_read_in_linear_time(text):
    # Quadratic work on a million characters would take hours.
    assert TASK.score(TASK[0], text).shape == (4,)
    answer = TASK.extract(text)
    assert answer is None or text.count(answer) >= 1


def test_an_action_of_100_000_characters_is_scored_on_its_prefix():
    env = gym.make("vpo/Maze-v0")
    env.reset(options={"problem": 0})
    good = TASK.wrap(_way_home())
    _, reward, _, _, info = env.step(good + "x" * 100_000)
    assert info["truncated_action"] is True
    assert reward[0] == 1
    env.reset(options={"problem": 0})
    _, reward, _, _, info = env.step("x" * 100_000 + good)
    assert info["truncated_action"] is True
    assert not info["answered"].any()
    assert not reward.any()


def _way_home(number: int = 0) -> str:
    """One of several ways to E in maze 0, all of them different."""
    rng = Random(0)
    ways = list(dict.fromkeys(TASK.demonstration(TASK[0], rng) for _ in range(50)))
    return ways[number]


def test_numbered_routes():
    """First occurrence of a number, a repeated answer once, and nothing for a truncated one."""
    env = gym.make("vpo/Maze-v0", num_answers=4)
    env.reset(options={"problem": 0})
    one, two, three = (_way_home(i) for i in range(3))
    again = " ".join(w.lower() for w in one.split() if w.isalpha())  # the same moves in other words
    _, reward, _, _, info = env.step(
        f"I try UP <route_2>{two}</ROUTE_2> <Route_1> {one} </route_1> <route_1>UP</route_1> <answer>UP</answer>"
        f" < route_3 >{again}</route_3> <route_5>UP</route_5> <route_4>{three}"
    )
    assert info["answered"].tolist() == [True, True, False, False]
    assert info["rewards"].shape == (4, 4)
    assert np.array_equal(info["rewards"][:2], TASK.score_batch([TASK[0]] * 2, [one, two]))
    assert not info["rewards"][2:].any()
    best = (info["rewards"] @ TASK.reference_weights).argmax()
    assert np.array_equal(reward, info["rewards"][best])


def test_with_several_answers_nothing_outside_the_tags_is_scored():
    env = gym.make("vpo/Maze-v0", num_answers=2)
    for text in (_way_home(), TASK.wrap(_way_home()), f"<route_1>{_way_home()}", f"<route_3>{_way_home()}</route_3>"):
        env.reset(options={"problem": 0})
        _, reward, _, _, info = env.step(text)
        assert not info["answered"].any()
        assert not reward.any()


def test_the_prompt_shows_the_grid_and_the_budget_and_asks_for_what_is_parsed():
    maze = TASK[0]
    for m, tags in ((1, ("<answer>", "</answer>")), (3, ("<route_1>", "</route_3>"))):
        [message] = TASK.messages(maze, m)
        assert "\n".join(" ".join(row) for row in maze.rows) in message["content"]
        assert str(maze.max_steps) in message["content"]
        assert all(tag in message["content"] for tag in tags)
    [message] = TASK.messages(maze, 1, [0.5, 0.25, 0.25, 0])
    assert "completion 50%, gold 25%, diamond 25%, avoid_lava 0%" in message["content"]
