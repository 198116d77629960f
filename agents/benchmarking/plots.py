"""The found vectors over the exact front: one panel for each pair of objectives, on one judged problem."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np

from agents.benchmarking.indicators import found_front
from agents.benchmarking.report import EXACT, BenchmarkResult
from agents.figures import COLORS, DPI, MARKERS, legend_below, new_figure

MAX_PANELS = 6
COLUMNS = 3


def plot_fronts(result: BenchmarkResult, path: Path) -> None:
    """Draw what each algorithm found with its first seed, on the first judged problem.

    A vector is a point in each panel. Those of one algorithm are moved aside a little, the same way for all of its
    points, so that equal vectors of several algorithms are seen. Objectives that all vectors agree in are left out; of
    more than six pairs the first six are drawn.
    """
    found = {name: found_front(outcomes[0].vectors[0]) for name, outcomes in result.outcomes.items()}
    exact = None if result.arena.fronts is None else found_front(result.arena.fronts[0])
    everything = np.concatenate([*found.values(), *([] if exact is None else [exact])])
    varied = [i for i in range(everything.shape[1]) if len(everything) and np.ptp(everything[:, i]) > 1e-6]
    varied = varied if len(varied) > 1 else list(range(min(2, everything.shape[1])))
    pairs = list(combinations(varied, 2))[:MAX_PANELS]
    columns = min(COLUMNS, len(pairs))
    rows = -(-len(pairs) // columns)
    figure, axes = new_figure(rows, columns, width=max(7.0, 3.9 * columns), height=3.7 * rows + 1.2)
    for axis, (x, y) in zip(axes, pairs, strict=False):
        if exact is not None:
            axis.scatter(exact[:, x], exact[:, y], s=190, facecolors="none", edgecolors="#444444", label=EXACT)
        for i, (name, vectors) in enumerate(found.items()):
            angle = 2 * np.pi * i / max(1, len(found))
            aside = 0.018 * np.array([np.cos(angle), np.sin(angle)])
            marker, color = MARKERS[(i + i // len(COLORS)) % len(MARKERS)], COLORS[i % len(COLORS)]
            points = vectors[:, [x, y]] + aside
            axis.scatter(
                points[:, 0], points[:, 1], s=26, color=color, marker=marker, alpha=0.85, linewidths=0, label=name
            )
        axis.set_xlabel(result.arena.objectives[x])
        axis.set_ylabel(result.arena.objectives[y])
        axis.set_xlim(-0.06, 1.06)
        axis.set_ylim(-0.06, 1.06)
    for axis in axes[len(pairs) :]:
        axis.set_axis_off()
    arena = result.arena
    figure.suptitle(
        f"{arena.env_id}, problem {arena.problems[0]} of the {arena.split} split",
        fontsize=11,
    )
    legend_below(figure, axes[0], share=0.06)
    figure.savefig(path, dpi=DPI)
