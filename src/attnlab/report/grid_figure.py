"""The figure of a grid: a score and its interval in every field, the choice framed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attnlab.report.figures import COLORS, PAGE_WIDTH, STYLE, plain

DARK, LIGHT, EMPTY = "#101114", "#ffffff", "#8a8d92"
"""On a field of its own colour, text does not follow the page's ink."""
ROW, LONG_ROW = 0.62, 24
"""Inches of a row; characters from which its name is written in two lines."""


@dataclass(frozen=True)
class Field:
    """One field of a grid, in percent."""

    score: float
    low: float
    high: float
    is_chosen: bool = False
    is_alike: bool = False
    """Whether it is not distinguishable from the chosen one."""
    has_collapsed: bool = False


@dataclass(frozen=True)
class Axis:
    """What varies along one side of a grid."""

    title: str
    values: Sequence[str]


def grid_figure(
    fields: Mapping[tuple[int, int], Field], rows: Axis, columns: Axis, *, title: str
) -> Figure:
    """Draw fields by row and column; one that is missing stays empty."""
    scores = [field.score for field in fields.values()]
    low, high = min(scores), max(max(scores), min(scores) + 1)
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        height = 1.3 + ROW * len(rows.values)
        figure = Figure(figsize=(PAGE_WIDTH * 0.85, height), layout="constrained")
        axis = figure.subplots()
        for (row, column), field in fields.items():
            _draw(axis, row, column, field, depth=(field.score - low) / (high - low))
        axis.set_xlim(-0.5, len(columns.values) - 0.5)
        axis.set_ylim(len(rows.values) - 0.5, -0.5)
        axis.set_xticks(range(len(columns.values)), [plain(value) for value in columns.values])
        axis.set_yticks(range(len(rows.values)), [_in_lines(value) for value in rows.values])
        axis.set_xlabel(columns.title)
        axis.set_ylabel(_in_lines(rows.title))
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        axis.set_title(title)
    return figure


def _draw(axis: Axes, row: int, column: int, field: Field, *, depth: float) -> None:
    """Draw a field whose colour is the deeper, the higher its score."""
    color = mpl.colormaps["Blues"](0.15 + 0.75 * depth)
    ink = LIGHT if depth > 0.55 else DARK
    field_patch = Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=color)
    if field.has_collapsed:
        field_patch.set(hatch="////", edgecolor=EMPTY)
    axis.add_patch(field_patch)
    if field.is_chosen or field.is_alike:
        stroke = "-" if field.is_chosen else ":"
        frame = Rectangle((column - 0.46, row - 0.43), 0.92, 0.86, fill=False, linestyle=stroke)
        frame.set(edgecolor=COLORS[1], linewidth=2.5)
        axis.add_patch(frame)
    under = {"facecolor": color, "edgecolor": "none", "pad": 1.0} if field.has_collapsed else None
    weight = "bold" if field.is_chosen else "normal"
    text = f"{field.score:.1f}\n{field.low:.0f}–{field.high:.0f}"
    axis.text(column, row, text, color=ink, ha="center", va="center", weight=weight, bbox=under)


def _in_lines(name: str) -> str:
    """Write a long name of a row below each other, so that fields keep their room on a phone."""
    name = name.replace("$", r"\$")
    return name.replace(" · ", "\n") if len(name) > LONG_ROW // 2 else name
