"""Charts of weights, errors and draws."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import PercentFormatter, StrMethodFormatter

from attnlab.geometry.panels import Bars, Curves, Heat, Histogram, NoisyKey
from attnlab.report.figures import COLORS, INK, STROKES

LEAST_ERROR = 1e-9
"""Smaller errors are below the figure."""
FEW = 20
"""So many points of a line are drawn as dots too."""
MOST_NUMBERED = 7
"""Larger matrices have no room for numbers in their cells."""
WANTED = "#b9bdc3"


def bars(figure: Figure, place: SubplotSpec, panel: Bars) -> None:
    """Draw weights side by side, one group per token."""
    axis, series = figure.add_subplot(place), panel.series
    n = len(next(iter(series.values())))
    width = 0.8 / len(series)
    colours = iter(COLORS)
    for i, (label, numbers) in enumerate(series.items()):
        places = np.arange(n) + (i - (len(series) - 1) / 2) * width
        colour = WANTED if label == "wanted" else next(colours)
        axis.bar(places, numbers, width * 0.92, color=colour, label=label)
    if n <= 20:
        axis.set_xticks(range(n), [str(i) for i in range(n)])
    axis.set_xlabel("token")
    axis.grid(axis="x", visible=False)
    legend_above(axis, "Weight of each token")


def curves(figure: Figure, place: SubplotSpec, panel: Curves) -> None:
    """Draw lines by name, with the height that is allowed or a point to point out."""
    axis = figure.add_subplot(place)
    for i, (name, (x, y)) in enumerate(panel.lines.items()):
        seen = np.where(y < LEAST_ERROR, np.nan, y) if "y" in panel.log else y
        look: Any = {"color": COLORS[i], "marker": "." if len(x) <= FEW else "", "label": name}
        axis.plot(x, seen, linestyle=STROKES[i], **look)
    axis.set_xlabel(panel.x_label)
    axis.set_xscale("log" if "x" in panel.log else "linear")
    axis.set_yscale("log" if "y" in panel.log else "linear")
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    if panel.x_range is not None:
        axis.set_xlim(panel.x_range)
    if panel.allowed is not None:
        _allowed(axis, panel.allowed, lowest=min(float(y.min()) for _, y in panel.lines.values()))
    if panel.mark is not None:
        _marked(axis, *panel.mark)
    legend_above(axis, panel.y_label.capitalize())


def _allowed(axis: Any, height: float, *, lowest: float) -> None:
    """Draw the height below which a line is good enough, and keep it in view."""
    axis.axhline(height, color=INK, linestyle=":", linewidth=1)
    axis.annotate(
        f"allowed {height:g}", (0, height), xycoords=("axes fraction", "data"),
        xytext=(4, -14), textcoords="offset points",
    )  # fmt: skip
    axis.set_ylim(bottom=max(min(height, lowest) / 3, LEAST_ERROR))


def _marked(axis: Any, x: float, y: float) -> None:
    """Point out one point of a line between 0 and 1."""
    axis.plot([x] * 2, [0, y], color=INK, linestyle=":", linewidth=1)
    axis.annotate(f"{axis.get_xlabel()} = {x:.3g}: {y:g}", (x, y), xytext=(4, -18),
                  textcoords="offset points")  # fmt: skip
    axis.set_ylim(0, 1.03)
    axis.set_xlim(left=0)


def heat(figure: Figure, place: SubplotSpec, panel: Heat) -> None:
    """Draw a matrix of weights with its numbers; rows that are not known stay empty."""
    axis, matrix, names = figure.add_subplot(place), panel.matrix, panel.names
    axis.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
    if len(matrix) <= MOST_NUMBERED:
        for (i, j), value in np.ndenumerate(matrix):
            colour = "white" if value > 0.6 else INK
            text = "–" if np.isnan(value) else f"{value:.2f}"
            axis.text(j, i, text, ha="center", va="center", color=colour)
    axis.set_xticks(range(len(matrix)), names)
    axis.set_yticks(range(len(matrix)), names)
    axis.set_xlabel("token attended to")
    axis.set_ylabel("token that attends")
    axis.set_title(f"Weights, {panel.title}")
    axis.grid(visible=False)


def noisy_key(figure: Figure, place: SubplotSpec, panel: NoisyKey) -> None:
    """Draw a key of many draws in the plane of μ_a and μ_b, as in the assignment's figure 1."""
    axis: Any = figure.add_subplot(place)
    kept, away = panel.draws[~panel.ignored], panel.draws[panel.ignored]
    axis.plot(*kept.T, ".", color=COLORS[5], alpha=0.35, label="draws of $k_a$")
    axis.plot(*away.T, ".", color="#808080", alpha=0.5, label="ignored: away from $\\mu_a$")
    for tip, name in (((1, 0), "$\\mu_a$"), ((0, 1), "$\\mu_b$")):
        axis.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.5})
        spot = (1.0, -0.4) if tip[0] else (0.2, 1.0)
        axis.text(*spot, name, ha="center", va="center")
    axis.set_xlabel("along $\\mu_a$")
    axis.set_ylabel("along $\\mu_b$")
    axis.axis("equal")
    legend_above(axis, "Draws of the noisy key")


def histogram(figure: Figure, place: SubplotSpec, panel: Histogram) -> None:
    """Draw which share of the draws lies in each bin."""
    axis = figure.add_subplot(place)
    for i, (label, shares) in enumerate(panel.shares.items()):
        axis.stairs(shares, panel.edges, fill=True, color=COLORS[i], alpha=0.6, label=label)
    axis.axvline(panel.wanted, color=INK, linestyle=":", linewidth=1)
    axis.set_xlabel(panel.x_label)
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=""))
    legend_above(axis, "Share of the draws (%)")


def legend_above(axis: Any, title: str) -> None:
    """Put the title above the panel, and the legend under it, where no bar or line can be."""
    looks, labels = axis.get_legend_handles_labels()
    columns = 1 if max(map(len, labels), default=0) > 14 else min(len(labels), 3)
    axis.legend(
        looks,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=max(columns, 1),
        title=title,
        title_fontproperties={"weight": "bold"},
        alignment="left",
        borderpad=0,
    )
