"""The pictures are there, large enough, and show what they are told to show."""

from __future__ import annotations

import json

import numpy as np
import pytest
from evaluation_helpers import random_result
from matplotlib.image import imread

from agents.comparison import Comparison
from agents.plots import plot_best_at_k, plot_maze_answers, plot_training
from vpo_envs.maze import MazeTask
from vpo_envs.maze.render import ROUTE_COLORS


def picture(path) -> np.ndarray:
    """Pixels (h, w, 3) in 0..255, after checking that they are a picture of some size with something on it."""
    image = (imread(path)[..., :3] * 255).round().astype(int)
    assert min(image.shape[:2]) > 400
    ink = (abs(image - 255).max(-1) > 40).mean()
    assert 0.01 < ink < 0.9
    return image


def has_color(image: np.ndarray, color, at_least: int = 50) -> bool:
    return int((abs(image - np.array(color)).max(-1) <= 3).sum()) >= at_least


def test_best_at_k(tmp_path):
    fronts = [np.ones((1, 3), np.float32)] * 5
    results = [random_result(f"policy {i}", seed=i, fronts=fronts) for i in range(3)]
    plot_best_at_k(Comparison(results), tmp_path / "three.png")
    image = picture(tmp_path / "three.png")
    for color in ((0, 114, 178), (213, 94, 0), (0, 158, 115), (68, 68, 68)):  # three policies and the ceiling
        assert has_color(image, color)
    plot_best_at_k(Comparison([random_result()]), tmp_path / "one.png")
    assert not has_color(picture(tmp_path / "one.png"), (213, 94, 0))


def maze_result(label: str, routes: list[str | None], problem: int = 0):
    task = MazeTask("test", size=5, slack=4)
    rewards = np.array([np.zeros(4) if r is None else task.score(task[problem], r) for r in routes], np.float32)
    return random_result(
        label,
        p=1,
        n=len(routes),
        m=1,
        k=4,
        problems=[problem],
        objectives=[o.name for o in task.objectives],
        rewards=rewards.reshape(1, len(routes), 1, 4),
        answered=np.array([[[r is not None] for r in routes]]),
        answers=[[[r] for r in routes]],
    )


def test_maze_answers_draws_each_route_once(tmp_path):
    same = maze_result("same", ["LEFT UP", "LEFT (4,3) UP (3,3)", None, "LEFT UP"])
    varied = maze_result("varied", ["LEFT", "UP", "LEFT LEFT", "UP UP"])
    plot_maze_answers(Comparison([same]), tmp_path / "same.png")
    image = picture(tmp_path / "same.png")
    assert [has_color(image, c) for c in ROUTE_COLORS[:2]] == [True, False]
    plot_maze_answers(Comparison([same, varied]), tmp_path / "both.png", count=3)
    image = picture(tmp_path / "both.png")
    assert [has_color(image, c, 300) for c in ROUTE_COLORS[:4]] == [True, True, True, False]
    silent = maze_result("silent", [None, None, None, None])
    plot_maze_answers(Comparison([silent, *(maze_result(str(i), ["UP"] * 4) for i in range(5))]), tmp_path / "six.png")
    picture(tmp_path / "six.png")


def test_maze_answers_says_what_it_cannot_draw(tmp_path):
    with pytest.raises(ValueError, match="there are problems 0 to 0"):
        plot_maze_answers(Comparison([maze_result("a", ["UP"])]), tmp_path / "a.png", problem=1)


def test_training_draws_what_was_logged(tmp_path):
    log = tmp_path / "metrics.jsonl"
    lines = [
        {"step": s, "score/answer": s / 50, "reward/gold": 0.1, "reward/lava": 0.4, "learner/kl": 0.0, "other": 1}
        for s in range(50)
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"step": 50, "sco')
    plot_training(log, tmp_path / "few.png")
    three = picture(tmp_path / "few.png")
    log.write_text("".join(json.dumps(line | {"learner/entropy": 0.5}) + "\n" for line in lines))
    plot_training(log, tmp_path / "more.png")
    assert picture(tmp_path / "more.png").shape[0] > three.shape[0]  # a second row
    log.write_text(json.dumps(lines[0]) + "\n")
    plot_training(log, tmp_path / "one_step.png")


def test_training_without_anything_to_draw(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        plot_training(tmp_path / "metrics.jsonl", tmp_path / "a.png")
    (tmp_path / "metrics.jsonl").write_text('{"step": 0, "other": 1}\n')
    with pytest.raises(ValueError, match="no metric that can be drawn"):
        plot_training(tmp_path / "metrics.jsonl", tmp_path / "a.png")
