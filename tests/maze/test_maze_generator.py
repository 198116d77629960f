"""Generated mazes have the properties that make their objectives conflict."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from zlib import crc32

import pytest
from helpers import outputs_under_hash_seeds
from maze_helpers import distance, maze_of, where

from vpo_envs.maze import Maze, MazeTask
from vpo_envs.maze.generator import generate_maze, largest_slack, step_budget
from vpo_envs.maze.problems import belongs_to, generated_maze

SIZES = (5, 6, 7, 9, 12)


@pytest.fixture(scope="module", params=SIZES)
def mazes(request: pytest.FixtureRequest) -> list[Maze]:
    rng = Random(request.param)
    return [generate_maze(rng, request.param, slack=5 if request.param < 9 else 7) for _ in range(60)]


def corners(maze: Maze) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]:
    """S, E, the gold corner and the diamond corner, all as (row, column)."""
    last = maze.height - 1
    [start], [exit_] = where(maze, "S"), where(maze, "E")
    others = {(0, 0), (0, last), (last, 0), (last, last)} - {start, exit_}
    golds = where(maze, "G")
    gold = min(others, key=lambda k: sum(abs(r - k[0]) + abs(c - k[1]) for r, c in golds))
    [diamond] = others - {gold}
    return start, exit_, gold, diamond


def test_start_and_exit_lie_on_opposite_corners(mazes):
    last = mazes[0].height - 1
    seen = set()
    for maze in mazes:
        [(r, c)], [exit_] = where(maze, "S"), where(maze, "E")
        assert r in (0, last)
        assert c in (0, last)
        assert exit_ == (last - r, last - c)
        seen.add((r, c))
    assert len(seen) == 4  # both diagonals, both directions


def test_items_lie_within_radius_two_of_their_own_corner(mazes):
    for maze in mazes:
        _, _, gold, diamond = corners(maze)
        for corner, tile in ((gold, "G"), (diamond, "D")):
            cells = where(maze, tile)
            assert 3 <= len(cells) <= 5
            assert all(abs(r - corner[0]) + abs(c - corner[1]) <= 2 for r, c in cells)


def test_lava_stays_in_the_interior_and_the_bonus_in_the_centre(mazes):
    for maze in mazes:
        size = maze.height
        assert where(maze, "B") == [(size // 2, size // 2)]
        margin = 2 if size >= 6 else 1
        lava = where(maze, "L")
        assert all(margin <= x < size - margin for cell in lava for x in cell)
        assert len(lava) in (3, 4, 5)


def test_the_budget_fits_one_corner_and_never_both(mazes):
    for maze in mazes:
        start, exit_, gold, diamond = corners(maze)
        slack = 5 if maze.height < 9 else 7
        to_gold, to_diamond = distance(maze, start, gold, [exit_]), distance(maze, start, diamond, [exit_])
        between = distance(maze, gold, diamond, [exit_])
        from_gold, from_diamond = distance(maze, gold, exit_), distance(maze, diamond, exit_)
        assert maze.max_steps == max(to_gold + from_gold, to_diamond + from_diamond) + slack
        assert distance(maze, start, exit_, where(maze, "L")) <= maze.max_steps
        assert min(to_gold + between + from_diamond, to_diamond + between + from_gold) > maze.max_steps


def test_every_item_can_be_reached(mazes):
    for maze in mazes:
        [start], [exit_] = where(maze, "S"), where(maze, "E")
        assert all(distance(maze, start, cell, [exit_]) < float("inf") for t in "GD" for cell in where(maze, t))


def test_at_size_nine_18_to_28_of_the_32_inner_walls_are_opened():
    rng = Random(0)
    walls = [len(where(generate_maze(rng), "#")) for _ in range(200)]
    assert max(walls) <= 32 - 18
    assert min(walls) < 32 - 25  # lava may stand on a wall, so there is no sharp lower bound
    assert len(set(walls)) > 5


def test_a_grid_has_no_budget_unless_the_safe_way_fits_and_both_corners_do_not():
    #  via gold and via diamonds 6 steps each, via both 10, around the lava 10
    dangerous = (". . . . .", ". # # # .", ". G L L .", "S # # # E", ". D L L .")
    harmless = tuple(row.replace("L", ".") for row in dangerous)

    def budget(rows: tuple[str, ...], slack: int) -> int | None:
        return step_budget(maze_of("\n".join(rows)), gold=2 * 5 + 1, diamond=4 * 5 + 1, slack=slack)

    assert [budget(harmless, slack) for slack in (0, 3, 4)] == [6, 9, None]
    assert [budget(dangerous, slack) for slack in (0, 3, 4)] == [None, None, None]
    assert step_budget(maze_of("S L E \n G L D"), gold=3, diamond=5, slack=7) is None  # no safe way at all


def test_train_and_test_never_share_a_grid():
    train, test = MazeTask("train", num_problems=400), MazeTask("test")
    grids = {train[i].rows for i in range(400)}
    others = {test[i].rows for i in range(100)}
    assert len(grids) == 400
    assert len(others) == 100
    assert not grids & others
    assert {belongs_to(train[i]) for i in range(400)} == {"train"}  # so no other seed can collide either
    assert {belongs_to(test[i]) for i in range(100)} == {"test"}


def test_sizes_of_the_splits_are_the_papers_unless_given():
    assert len(MazeTask("train")) == 1000
    assert len(MazeTask("test")) == 100
    assert len(MazeTask("train", num_problems=7)) == 7
    assert MazeTask()[0].height == MazeTask()[0].width == 9
    with pytest.raises(IndexError, match="problem 7 of 7"):
        MazeTask("train", num_problems=7)[7]


def test_a_maze_depends_on_nothing_but_the_arguments():
    forwards, backwards = MazeTask(size=7), MazeTask(size=7)
    assert [forwards[i] for i in range(10)] == [backwards[i] for i in reversed(range(10))][::-1]
    program = (
        "from vpo_envs.maze import MazeTask; t = MazeTask(); print([(t[i].rows, t[i].max_steps) for i in range(5)])"
    )
    prints = set(outputs_under_hash_seeds(program))
    assert prints == {f"{[(MazeTask()[i].rows, MazeTask()[i].max_steps) for i in range(5)]}\n"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"size": 4}, "size must be a whole number from 5 to 64, not 4"),
        ({"size": 9.0}, "size must be"),
        ({"slack": -1}, "slack must be"),
        ({"size": 5, "slack": 12}, "with size 5 and slack 12 both .* slack may be at most 7 for this size"),
        ({"size": 9, "slack": 20}, "with size 9 and slack 20 both .* slack may be at most 15 for this size"),
        ({"num_problems": 0}, "num_problems must be"),
        ({"num_problems": 2.5}, "num_problems must be"),
        ({"num_problems": True}, "num_problems must be"),
        ({"score_mode": "quadratic"}, "score_mode must be 'linear' or 'convex_bonus', not 'quadratic'"),
        ({"split": "validation"}, "split must be 'train' or 'test', not 'validation'"),
        ({"data": "hub"}, "no published maze data set"),
    ],
)
def test_bad_arguments_are_named(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        MazeTask(**arguments)


@pytest.mark.parametrize("size", [6, 9])
def test_demonstrations_reach_the_exit_by_varied_ways_but_are_not_optimal(size):
    task = MazeTask(size=size)
    rng = Random(0)
    best = []
    for i in range(40):
        answers = [task.demonstration(task[i], rng) for _ in range(8)]
        rewards = task.score_batch([task[i]] * 8, answers)
        assert (rewards[:, 0] == 1).all()
        assert len({task.normalise(a) for a in answers}) > 1
        best.append(rewards[:, 1:3].max(axis=1).mean())
    assert 0.05 < sum(best) / len(best) < 0.6  # share of the richer treasure that is taken home


@pytest.mark.parametrize("size", SIZES)
def test_the_largest_slack_still_has_mazes_and_one_more_is_refused(size):
    slack = largest_slack(size)
    for split in ("train", "test"):
        maze = MazeTask(split, size=size, slack=slack)[0]
        start, exit_, gold, diamond = corners(maze)
        ways = [[start, gold, diamond, exit_], [start, diamond, gold, exit_]]
        both = [sum(distance(maze, a, b, {exit_} - {b}) for a, b in pairwise(way)) for way in ways]
        assert min(both) > maze.max_steps
    for make in (generate_maze, lambda rng, size, slack: generated_maze("train", size, slack, 0)):
        with pytest.raises(ValueError, match=rf"size {size} and slack {slack + 1} both"):
            make(Random(0), size, slack + 1)


def test_the_search_for_a_maze_ends(monkeypatch):
    monkeypatch.setattr("vpo_envs.maze.generator.ATTEMPTS", 20)
    monkeypatch.setattr("vpo_envs.maze.problems.ATTEMPTS", 20)
    complaint = "none of 20 grids of size 5 with slack 4 could be kept"
    with monkeypatch.context() as nothing_drawn:
        nothing_drawn.setattr("vpo_envs.maze.generator._draw", lambda *_: None)
        with pytest.raises(ValueError, match=complaint):
            generate_maze(Random(0), 5, 4)
    monkeypatch.setattr("vpo_envs.maze.problems.belongs_to", lambda maze: "test")
    with pytest.raises(ValueError, match=complaint):
        generated_maze("train", 5, 4, 0)


def test_the_mazes_of_a_seed_are_those_of_always():
    """A policy was trained on them and results refer to them."""
    seen = ""
    for arguments in ({}, {"size": 5, "slack": 4}, {"size": 5, "slack": 7}, {"size": 12, "slack": 21}):
        for split in ("train", "test"):
            task = MazeTask(split, **arguments)
            seen += repr([(task[i].rows, task[i].max_steps) for i in range(10)])
    assert crc32(seen.encode()) == 2_950_126_438


def test_the_slack_does_not_matter_to_a_file(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"grid": "S . E", "max_steps": 3}')
    assert MazeTask(data=str(path), size=5, slack=12)[0].max_steps == 3
