"""How figures look, and the figure of scores with their intervals."""

from collections.abc import Sequence
from math import ceil
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from attnlab.evaluation.comparison import Comparison, Condition
from attnlab.evaluation.failures import FailedCondition

INK = "#1a1b1c"
COLORS = ("#3b82c4", "#d9772b", "#459a55", "#a267b5", "#b58a1f", "#c85d72")
STROKES: Final = ("-", "--", ":")
PAGE_WIDTH = 920 / 96
"""Inches; a figure this wide fills a page, and its text then has the size of the page's text."""
LONGEST_NAME = 30
"""Characters; what fits a legend on a phone."""
LINE = 0.24
"""Inches that a line of text takes."""
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 12,  # points; 16 pixels, as the text of a page
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.titlesize": "medium",
    "figure.titleweight": "bold",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.color": "#808080",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "attnlab",
}


def score_bars(comparison: Comparison, failed: Sequence[FailedCondition] = ()) -> Figure:
    """Draw every condition's score with its 95 % interval, and what guessing gives.

    One that has failed has no bar, but the word for it.
    """
    conditions, metric = comparison.conditions, comparison.metric
    unit = 100 if metric.in_percent else 1
    with mpl.rc_context(STYLE):
        rows = len(conditions) + len(failed)
        size = (PAGE_WIDTH, 0.8 + 0.62 * rows)
        figure = Figure(figsize=size, layout="constrained")
        axis = figure.subplots()
        for row, condition in enumerate(conditions):
            _score_bar(axis, row, condition, unit=unit)
        for row, one in enumerate(failed, len(conditions)):
            _name_above(axis, row, one.name)
            axis.annotate(
                one.result, (0, row), xytext=(4, 0), textcoords="offset points", va="center"
            )
        axis.set_yticks([])
        axis.set_ylim(rows - 0.4, -0.8)
        axis.set_xlim(left=0)
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        percent = " (%)" if metric.in_percent else ""
        axis.set_title(f"{metric.title.capitalize()} on {comparison.split}{percent}")
    return figure


def _score_bar(axis: Axes, row: int, condition: Condition, *, unit: int) -> None:
    """Draw a bar with its name above it, where a long name takes no room from the bars."""
    low, high = condition.interval
    score = condition.score
    error = [[unit * max(0.0, score - low)], [unit * max(0.0, high - score)]]
    axis.barh(row, unit * score, color=COLORS[0], alpha=0.55, height=0.4)
    axis.errorbar(unit * score, row, xerr=error, color=INK, capsize=4, linestyle="none")
    if len(condition.scores) > 1:
        dots = [unit * one for one in condition.scores]
        axis.plot(dots, [row] * len(dots), "o", color=COLORS[1], markersize=4)
    if condition.baseline:
        guess = unit * condition.baseline["value"]
        axis.plot([guess, guess], [row - 0.25, row + 0.25], color=COLORS[5], linewidth=2)
    _name_above(axis, row, condition.name)


def _name_above(axis: Axes, row: int, name: str) -> None:
    axis.annotate(
        plain(name),
        (0, row - 0.25),
        xytext=(4, 0),
        textcoords="offset points",
        va="bottom",
        in_layout=False,
    )


def legend_below(figure: Figure, looks: Sequence[Any], names: Sequence[str]) -> None:
    """Put a legend below all panels, in as many columns as fit."""
    if names:
        columns = _legend_columns(names, width=figure.get_figwidth())
        figure.legend(looks, names, loc="outside lower left", ncols=columns)


def legend_height(names: Sequence[str], *, width: float) -> float:
    """Return the inches that a legend takes below panels of a width."""
    rows = ceil(len(names) / _legend_columns(names, width=width)) if names else 0
    return LINE * rows + 0.1 * (rows > 0)


def _legend_columns(names: Sequence[str], *, width: float) -> int:
    longest = max(map(len, names))
    return max(1, min(len(names), int(width / (0.6 + 0.1 * longest))))


def plain(name: str) -> str:
    """Cut a long name in the middle, and keep matplotlib from reading it as mathematics.

    A name that starts with an underscore would be left out of the legend.
    """
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 12]}…{name[-11:]}"
    return name.replace("$", r"\$").replace("_", "\u200b_", 1)
