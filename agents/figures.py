"""The look that all our pictures share. No torch is imported here, so that light commands can draw."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F", "#7A4B2A", "#5B3FC4")
"""Okabe and Ito's palette, which people with any colour vision can tell apart, and three more for many policies."""
MARKERS = "osD^vPX<>*"  # a second difference, for prints without colour
DPI = 150


def legend_below(figure: Figure, axis: Axes, share: float) -> None:
    """One legend for all panels, below them; `share` of the height for each of its lines."""
    handles, labels = axis.get_legend_handles_labels()
    rows = math.ceil(len(labels) / 4)
    figure.legend(handles, labels, loc="lower center", ncols=min(4, len(labels)), frameon=False)
    figure.get_layout_engine().set(rect=(0, share * rows, 1, 1 - share * rows))  # type: ignore[union-attr, call-arg]


def line_style(i: int) -> tuple[str, str]:
    """Colour and dashes of the i-th line of a picture; those after Okabe and Ito's seven are dashed."""
    return COLORS[i % len(COLORS)], "-" if i < 7 else "--"


def new_figure(rows: int, columns: int, width: float, height: float, sharey: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure and its axes in reading order, in the look that all our pictures have."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(np.asarray(figure.subplots(rows, columns, squeeze=False, sharey=sharey)).flat)
    for axis in axes:
        axis.grid(color="#dddddd", linewidth=0.7)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
        axis.title.set_fontsize(10.5)
        axis.tick_params(labelsize=9)
    return figure, axes
