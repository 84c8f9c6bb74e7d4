"""Training curves: losses and accuracies over steps or epochs; points where there is one value."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from attnlab.report.curve_series import MOST_POINTS, logged_points, panel_keys, split_of
from attnlab.report.figures import (
    COLORS,
    INK,
    PAGE_WIDTH,
    STROKES,
    STYLE,
    legend_below,
    legend_height,
    plain,
)

Series = Mapping[tuple[str, str], Float[np.ndarray, "N 2"]]
"""By run and logged key: the step (or epoch) and the value there."""
FEW_POINTS = 20
MOST_LABELLED = 12
MARKERS = ("o", "s", "^", "D")


class Look(NamedTuple):
    """How a run is drawn."""

    color: str
    marker: str


def curves(runs: Mapping[str, Sequence[Mapping[str, Any]]], *, per_epoch: float | None) -> Figure:
    """Draw the training loss, and loss and accuracy on train and dev, over epochs (or steps)."""
    panels = panel_keys({key for lines in runs.values() for line in lines for key in line})
    logged = [name for name, lines in runs.items() if lines]
    # more runs than colours: the next ones have another marker
    looks = dict(zip(logged, (Look(c, m) for m in cycle(MARKERS) for c in COLORS), strict=False))
    names = [plain(name) for name in looks] if len(looks) > 1 else []
    with mpl.rc_context(STYLE):
        width = PAGE_WIDTH * len(panels) / 3
        size = (width, 3.0 + legend_height(names, width=width))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, (title, keys) in zip(axes, panels.items(), strict=True):
            series = {
                (name, key): np.array(logged_points(runs[name], key, per_epoch or 1), dtype=float)
                for name in looks
                for key in keys
            }
            series = {key: points for key, points in series.items() if len(points)}
            if all(len(points) == 1 for points in series.values()):
                _draw_single_values(axis, series, looks)
            else:
                _draw_lines(axis, series, looks)
                axis.set_xlabel("epoch" if per_epoch else "step")
            axis.set_title(title)
        shown = len(looks) > len(COLORS)
        lines = [
            Line2D([], [], color=look.color, marker=look.marker if shown else None)
            for look in looks.values()
        ]
        legend_below(figure, lines, names)
    return figure


def _draw_lines(axis: Axes, series: Series, looks: Mapping[str, Look]) -> None:
    """Draw one line per run and key; a long log is averaged down to a few hundred points."""
    strokes: dict[str, Any] = dict(
        zip(dict.fromkeys(key for _, key in series), cycle(STROKES), strict=False)
    )
    for (name, key), points in series.items():
        groups = np.array_split(points, min(len(points), MOST_POINTS))
        x, y = np.array([group.mean(axis=0) for group in groups]).T
        look, few = looks[name], len(x) < FEW_POINTS
        marker = look.marker if len(looks) > len(COLORS) else "." if few else None
        every = max(1, len(x) // FEW_POINTS)
        axis.plot(x, y, color=look.color, linestyle=strokes[key], marker=marker, markevery=every)
    if len(strokes) > 1:
        lines = [Line2D([], [], color=INK, linestyle=stroke) for stroke in strokes.values()]
        axis.legend(lines, [split_of(key) for key in strokes])
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.set_xlim(left=0)
    if all(key.endswith("_accuracy") for key in strokes):
        axis.set_ylim(-2, 102)


def _draw_single_values(axis: Axes, series: Series, looks: Mapping[str, Look]) -> None:
    """Draw values that were logged once as points with their numbers: one point is no curve."""
    splits = list(dict.fromkeys(key for _, key in series))
    names = list(dict.fromkeys(name for name, _ in series))
    for (name, key), points in series.items():
        place = splits.index(key) + 0.8 * ((names.index(name) + 0.5) / len(names) - 0.5)
        axis.plot(place, points[0, 1], looks[name].marker, color=looks[name].color)
        if len(series) <= MOST_LABELLED:
            axis.annotate(
                f"{points[0, 1]:.1f}" if key.endswith("_accuracy") else f"{points[0, 1]:.2f}",
                (place, points[0, 1]),
                xytext=(0, 6),
                textcoords="offset points",
                rotation=90 if len(names) > 1 else 0,
                ha="center",
                va="bottom",
            )
    axis.set_xticks(range(len(splits)), [split_of(key) for key in splits])
    axis.set_xlim(-0.6, len(splits) - 0.4)
    axis.grid(axis="x", visible=False)
    in_percent = all(key.endswith("_accuracy") for key in splits)
    highest = 100 if in_percent else max(points[0, 1] for points in series.values())
    axis.set_ylim(-0.02 * highest, 1.35 * highest)  # room for the numbers above the points
    if in_percent:
        axis.set_yticks(range(0, 101, 20))
