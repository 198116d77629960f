"""Pictures of a comparison of methods: the curves of best@k, and what training did to score and diversity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from agents.figures import DPI, legend_below, line_style, new_figure
from agents.plots import draw_best_at_k, read_records, smooth
from agents.study.study import Study

DIVERSITY = ("diversity/group", "Reward-space diversity in training, mean L1 distance of a prompt's answers")
PANELS = (
    ("score/answer", "Mean answer, reference weights"),
    ("score/best_of_group", "Best of a prompt's answers, reference weights"),
    ("diversity/group", "Diversity (L1) of a prompt's answers"),
    ("learner/kl", "KL to the reference, nats per token"),
    ("learner/entropy", "Entropy, nats per token"),
    ("answered", "Share of answers given"),
)
"""What `training.png` shows; all of it is over the answers of a prompt, whether they came one or several a response."""


def plot_study(study: Study, runs: Mapping[str, Sequence[Path]], folder: Path) -> list[str]:
    """Draw `best_at_k.png`, and for methods that train `diversity.png` and `training.png`; returns their names.

    Args:
        study: the results.
        runs: label -> folders of the training runs, one for each seed; methods that do not train are left out.
        folder: where the pictures go.
    """
    first = study.results[study.labels[0]][0]
    seeds = f"{len(study.seeds)} training seed{'s' if len(study.seeds) > 1 else ''}"
    title = f"{' '.join([first.env, *first.env_args])}: {len(first.problems)} test problems, {seeds}"
    ceilings = {panel: study.ceiling[f"{panel}_of_set"].value for panel in ("best", "ew_best") if study.ceiling}
    draw_best_at_k(
        study.names,
        study.curve_ks,
        study.curves,
        first.ks,
        first.config.weights,
        ceilings,
        title,
        folder / "best_at_k.png",
    )
    if not runs:
        return ["best_at_k.png"]
    records = {label: [read_records(run / "metrics.jsonl") for run in folders] for label, folders in runs.items()}
    _curves(records, study.labels, [DIVERSITY], folder / "diversity.png")
    _curves(records, study.labels, PANELS, folder / "training.png")
    return ["best_at_k.png", "diversity.png", "training.png"]


def _curves(
    records: Mapping[str, Sequence[list[dict[str, Any]]]],
    order: Sequence[str],
    panels: Sequence[tuple[str, str]],
    path: Path,
) -> None:
    """Smoothed metrics over the steps: a line for the mean over seeds, a band from the lowest to the highest seed."""
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = new_figure(rows, columns, width=max(7.0, 4.6 * columns), height=3.9 * rows + 0.5)
    for axis, (key, title) in zip(axes, panels, strict=True):
        for label, seeds in records.items():
            _draw(axis, seeds, key, label, order.index(label))
        axis.set_title(title)
        axis.set_xlabel("step")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    legend_below(figure, axes[0], share=0.05 if rows > 1 else 0.07)
    figure.savefig(path, dpi=DPI)


def _draw(axis: Axes, seeds: Sequence[list[dict[str, Any]]], key: str, label: str, place: int) -> None:
    curves = [[float(record.get(key, math.nan)) for record in records] for records in seeds]
    length = min(map(len, curves))
    values = np.array([curve[:length] for curve in curves])  # (S, steps)
    if not length or not np.isfinite(values).all():
        return  # a quantity that this run does not have, such as KL without a reference
    smoothed = np.stack([smooth(row) for row in values])
    steps = [record["step"] for record in seeds[0][:length]]
    color, dash = line_style(place)
    axis.fill_between(steps, smoothed.min(0), smoothed.max(0), color=color, alpha=0.12)
    axis.plot(steps, smoothed.mean(0), color=color, linestyle=dash, linewidth=1.8, label=label)
