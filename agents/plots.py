"""Pictures of an evaluation and of a training run, drawn without any global state of matplotlib."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from agents.comparison import Comparison
from agents.config import parse_pairs
from agents.evaluation import Estimate, PolicyResult
from agents.figures import COLORS, DPI, MARKERS, legend_below, line_style, new_figure
from vpo_envs.maze import MazeTask
from vpo_envs.maze.board import Maze
from vpo_envs.maze.render import ROUTE_COLORS, draw_rgb
from vpo_envs.maze.rewards import route
from vpo_envs.maze.task import parse_moves
from vpo_envs.registration import make_task

PANELS_IN_ROW = 4

TRAINING_PANELS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Score",
        (
            ("score/answer", "mean answer"),
            ("score/best_of_set", "best of a response"),
            ("score/expected_best_of_set", "the same, random weights"),
            ("score/best_of_group", "best of a prompt's group"),
        ),
    ),
    ("Objectives, mean over answers", ()),  # every reward/<objective>
    ("Diversity, mean L1 distance", (("diversity/group", "answers of a prompt"),)),
    ("KL to the reference, nats per token", (("learner/kl", "KL"),)),
    ("Entropy, nats per token", (("learner/entropy", "entropy"),)),
    (
        "Shares",
        (
            ("answered", "answers given"),
            ("response/truncated", "responses cut off"),
            ("group/zero_advantage", "groups without gradient"),
        ),
    ),
)
"""What a training run's picture shows: titles, and the keys in `metrics.jsonl` with their names. Missing ones are left
out."""


def plot_best_at_k(comparison: Comparison, path: str | Path) -> None:
    """best@k (left) and E_w[best@k] (right) over the number of answers, with 95% intervals and the exact ceiling."""
    first = comparison.results[0]
    ceilings = {name: comparison.ceiling[f"{name}_of_set"].value for name in ("best", "ew_best") if comparison.ceiling}
    title = f"{' '.join([first.env, *first.env_args])}: {len(first.problems)} test problems"
    ks, curves = comparison.curve_ks, comparison.curves
    draw_best_at_k(comparison.names, ks, curves, first.ks, first.config.weights, ceilings, title, path)


def draw_best_at_k(
    names: Sequence[str],
    ks: Sequence[int],
    curves: Sequence[Mapping[str, Sequence[Estimate]]],
    ticks: Sequence[int],
    weights: int,
    ceilings: Mapping[str, float],
    title: str,
    path: str | Path,
) -> None:
    """The picture of `plot_best_at_k`, from its numbers.

    Args:
        names: of the policies or methods.
        ks, curves: for each name best@k ("best") and E_w[best@k] ("ew_best") at every k.
        ticks: the k that the axis names, where there is room.
        weights: number of weightings in E_w.
        ceilings: the exact ceiling of "best" and "ew_best", where there is one.
        title: what was measured on what.
        path: the picture.
    """
    figure, axes = new_figure(1, 2, width=10.5, height=4.9, sharey=True)
    panels = (
        ("best", "Best of k answers, reference weights"),
        ("ew_best", f"Best of k answers, mean over {weights} weightings"),
    )
    for axis, (panel, heading) in zip(axes, panels, strict=True):
        for i, (name, by_panel) in enumerate(zip(names, curves, strict=True)):
            curve, values = by_panel[panel], [e.value for e in by_panel[panel]]
            (color, dash), marker = line_style(i), MARKERS[(i + i // len(COLORS)) % len(MARKERS)]
            axis.fill_between(ks, [e.low for e in curve], [e.high for e in curve], color=color, alpha=0.15)
            axis.plot(ks, values, color=color, linestyle=dash, marker=marker, markersize=4.5, label=name)
        if panel in ceilings:
            label = "ceiling (exact Pareto front)"
            axis.axhline(ceilings[panel], color="#444444", linestyle="--", linewidth=1.3, label=label)
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_locator(FixedLocator(_spread_ticks(ticks)))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_xlabel("k, answers sampled")
        axis.set_title(heading)
    axes[0].set_ylabel("scalarized reward")
    figure.suptitle(f"{title}, bands are 95% intervals", fontsize=11)
    legend_below(figure, axes[0], share=0.06)
    figure.savefig(path, dpi=DPI)


def _spread_ticks(ks: Sequence[int]) -> list[int]:
    """The k that are far enough apart on a logarithmic axis to carry a number each."""
    kept: list[int] = []
    for k in sorted(ks, reverse=True):
        if not kept or kept[-1] / k > 1.25:
            kept.append(k)
    return kept


def plot_maze_answers(comparison: Comparison, path: str | Path, problem: int = 0, count: int = 4) -> None:
    """One maze for each policy, with the first `count` different routes that it answered and their rewards.

    Args:
        comparison: results on a maze.
        path: the picture.
        problem: place in `problems` of the maze.
        count: routes shown, at most 8.

    Raises:
        ValueError: the task is not the maze, or there is no such problem.
    """
    first = comparison.results[0]
    task: Any = make_task(first.env, **parse_pairs(first.env_args, "--env-args") | {"split": "test"})
    if not isinstance(task, MazeTask):
        raise ValueError(f"only mazes are drawn, not problems of {first.env}; the texts are in answers.jsonl")
    if not 0 <= problem < len(first.problems):
        raise ValueError(f"problem {problem}: there are problems 0 to {len(first.problems) - 1}")
    count = max(1, min(count, len(ROUTE_COLORS)))
    maze = task[first.problems[problem]]
    columns = min(PANELS_IN_ROW, len(comparison.results))
    rows = math.ceil(len(comparison.results) / columns)
    table_height = 0.24 * (count + 1.4)
    figure = Figure(figsize=(3.9 * columns, rows * (3.9 + table_height) + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(wspace=0.08)  # type: ignore[union-attr, call-arg]
    grid = figure.add_gridspec(2 * rows, columns, height_ratios=[3.9, table_height] * rows)
    for i, (result, name) in enumerate(zip(comparison.results, comparison.names, strict=True)):
        row, column = divmod(i, columns)
        routes, rewards, different = _distinct_routes(result, maze, problem)
        picture = figure.add_subplot(grid[2 * row, column])
        picture.imshow(draw_rgb(maze, routes[:count], 64), interpolation="antialiased")
        picture.set_title(f"{name}\n{different} different routes in {result.config.answers} answers", fontsize=10.5)
        picture.set_axis_off()
        _reward_table(figure.add_subplot(grid[2 * row + 1, column]), result.objectives, rewards[:count], count)
    figure.suptitle(f"Test maze {first.problems[problem]}, at most {maze.max_steps} steps", fontsize=11)
    figure.savefig(path, dpi=DPI)


def _distinct_routes(result: PolicyResult, maze: Maze, problem: int) -> tuple[list[list[int]], list[Any], int]:
    """The different routes among a pool's answers in order of appearance, their rewards, and how many there are."""
    found: dict[tuple[int, ...], Any] = {}
    for answers, rewards in zip(result.answers[problem], result.rewards[problem], strict=True):
        for answer, vector in zip(answers, rewards, strict=True):
            if answer is not None:
                found.setdefault(tuple(route(maze, parse_moves(answer))), vector)
    return [list(cells) for cells in found], list(found.values()), len(found)


def _reward_table(axis: Axes, objectives: list[str], rewards: list[Any], lines: int) -> None:
    """Rows of rewards under the names of the objectives, each with a stroke in the colour of its route."""
    axis.set_axis_off()
    axis.set_xlim(0, 1)
    axis.set_ylim(lines + 0.7, -0.7)
    places = np.linspace(0.25, 0.88, len(objectives))
    for x, name in zip(places, objectives, strict=True):
        axis.text(x, 0, name, ha="center", va="center", fontsize=9, color="#444444")
    for i, vector in enumerate(rewards, start=1):
        color = tuple(channel / 255 for channel in ROUTE_COLORS[i - 1])
        axis.plot([0.02, 0.1], [i, i], color=color, linewidth=3.5, solid_capstyle="round")
        for x, value in zip(places, vector, strict=True):
            weight = "bold" if value > 0 else "normal"
            axis.text(x, i, f"{value:.2f}", ha="center", va="center", fontsize=9.5, weight=weight)
    if not rewards:
        axis.text(0.5, 1, "no answers", ha="center", va="center", fontsize=9.5)


def plot_training(metrics_jsonl: str | Path, path: str | Path) -> None:
    """Curves of a run over its steps, from `metrics.jsonl` (see `TRAINING_PANELS`); thin lines are the raw values.

    Raises:
        ValueError: there is no such file, or nothing in it that is drawn.
    """
    records = read_records(Path(metrics_jsonl))
    keys = list(dict.fromkeys(key for record in records for key in record))  # in the order of the objectives
    rewards = tuple((key, key.removeprefix("reward/")) for key in keys if key.startswith("reward/"))
    panels: list[tuple[str, list[tuple[str, str]]]] = []
    for title, wanted in TRAINING_PANELS:
        present = [(key, name) for key, name in (wanted or rewards) if key in keys]
        if present:
            panels.append((title, present))
    if not panels:
        raise ValueError(f"{metrics_jsonl} holds no metric that can be drawn")
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = new_figure(rows, columns, width=4.3 * columns, height=3.6 * rows)
    for axis, (title, series) in zip(axes, panels, strict=False):
        for i, (key, name) in enumerate(series):
            points = [(r["step"], r[key]) for r in records if key in r and math.isfinite(r[key])]
            if not points:
                continue
            steps, values = (np.array(column, np.float64) for column in zip(*points, strict=True))
            color = COLORS[i % len(COLORS)]
            axis.plot(steps, values, color=color, linewidth=0.8, alpha=0.3)
            axis.plot(steps, smooth(values), color=color, linewidth=1.8, label=name)
        axis.set_title(title)
        axis.set_xlabel("step")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        if len(series) > 1:
            below = (0.5, -0.17)  # on the curves it would hide them
            axis.legend(loc="upper center", bbox_to_anchor=below, ncols=2, fontsize=8.5, frameon=False)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.savefig(path, dpi=DPI)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The lines of a `metrics.jsonl` by step; what a crash cut short is left out. ValueError if there is no file."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist")
    records = []
    for line in path.read_text().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the last line of a run that was killed
        if isinstance(record, dict) and "step" in record:
            records.append(record)
    return sorted(records, key=lambda record: int(record["step"]))


def smooth(values: np.ndarray) -> np.ndarray:
    """Centred moving average over a tenth of the run; at both ends over the part of the window that there is."""
    half, places = len(values) // 20, np.arange(len(values))
    first, end = np.maximum(places - half, 0), np.minimum(places + half + 1, len(values))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return (sums[end] - sums[first]) / (end - first)
