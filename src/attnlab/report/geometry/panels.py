"""Panels of a figure: weights, errors, matrices, histograms."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from attnlab.geometry.kqv import Rate
from attnlab.geometry.sharpness import Sharpness, mass_at
from attnlab.report.figures import COLORS, INK, STROKES

LEAST_ERROR = 1e-9
"""Smaller errors are below the figure."""
WANTED = "#b9bdc3"
MOST_DOTS = 600


def bars(figure: Figure, place: SubplotSpec, *, series: Mapping[str, np.ndarray]) -> None:
    """Draw weights side by side, a group a token."""
    axis = figure.add_subplot(place)
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
    axis.set_ylabel("weight")
    axis.grid(axis="x", visible=False)
    _legend_above(axis)


def error_lines(
    figure: Figure,
    place: SubplotSpec,
    *,
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]],
    tolerance: float,
) -> None:
    """Draw the output's error against the length of the query, both logarithmic."""
    axis = figure.add_subplot(place)
    for i, (label, (lengths, errors)) in enumerate(lines.items()):
        look: Any = {"color": COLORS[i], "linestyle": STROKES[i], "label": label}
        axis.loglog(lengths, np.where(errors < LEAST_ERROR, np.nan, errors), **look)
    axis.axhline(tolerance, color=INK, linestyle=":", linewidth=1)
    axis.annotate(
        f"allowed {tolerance:g}", (0, tolerance), xycoords=("axes fraction", "data"),
        xytext=(4, -10), textcoords="offset points", fontsize=8,
    )  # fmt: skip
    axis.set_xlabel("length of the query")
    axis.set_ylabel("largest error of the output")
    least = min(tolerance, *(float(errors.min()) for _, errors in lines.values()))
    axis.set_ylim(bottom=max(least / 3, LEAST_ERROR))
    axis.set_xlim(0.05, 1e3)
    _legend_above(axis)


def heat(
    figure: Figure,
    place: SubplotSpec,
    *,
    matrix: np.ndarray,
    title: str,
    names: Sequence[str] | None = None,
) -> None:
    """Draw a matrix of weights with its numbers; rows that are not known stay empty."""
    axis = figure.add_subplot(place)
    axis.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
    if len(matrix) <= 10:
        for (i, j), value in np.ndenumerate(matrix):
            colour = "white" if value > 0.6 else INK
            text = "–" if np.isnan(value) else f"{value:.2f}"
            axis.text(j, i, text, ha="center", va="center", color=colour, fontsize=8)
    axis.set_xticks(range(len(matrix)), names)
    axis.set_yticks(range(len(matrix)), names)
    axis.set_xlabel("token looked at")
    axis.set_ylabel("token that asks")
    axis.set_title(title, fontsize=10)
    axis.grid(visible=False)


def noisy_keys(
    figure: Figure, place: SubplotSpec, *, keys: np.ndarray, ignored: np.ndarray
) -> None:
    """Draw k_a of many draws in the plane of μ_a and μ_b, as in the assignment's figure 1."""
    axis: Any = figure.add_subplot(place)
    shown, away = keys[:MOST_DOTS], ignored[:MOST_DOTS]
    axis.plot(*shown[~away].T, ".", color=COLORS[5], alpha=0.35, label="draws of $k_a$")
    axis.plot(*shown[away].T, ".", color="#808080", alpha=0.5, label="ignored: away from $\\mu_a$")
    for tip, name in (((1, 0), "$\\mu_a$"), ((0, 1), "$\\mu_b$")):
        axis.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.5})
        spot = (1.0, -0.4) if tip[0] else (0.2, 1.0)
        axis.text(*spot, name, ha="center", va="center", fontsize=11)
    axis.set_xlabel("along $\\mu_a$")
    axis.set_ylabel("along $\\mu_b$")
    axis.axis("equal")
    _legend_above(axis)


def histograms(figure: Figure, place: SubplotSpec, *, series: Mapping[str, np.ndarray]) -> None:
    """Draw how often the weight on v_a has which value."""
    axis = figure.add_subplot(place)
    edges = np.linspace(0, 1, 42).tolist()  # ½ is in the middle of a bin
    for i, (label, weights) in enumerate(series.items()):
        share = np.full(len(weights), 1 / len(weights))
        axis.hist(weights, edges, weights=share, color=COLORS[i], alpha=0.6, label=label)
    axis.axvline(0.5, color=INK, linestyle=":", linewidth=1)
    axis.set_xlabel("weight on $v_a$ (wanted: ½)")
    axis.set_ylabel("share of the draws")
    _legend_above(axis)


def rate_lines(figure: Figure, place: SubplotSpec, *, rate: Rate, names: Sequence[str]) -> None:
    """Draw the error of each context against β², where exp(−rate·β²) is a straight line."""
    axis = figure.add_subplot(place)
    squares = np.square(rate.betas)
    for i, (name, errors) in enumerate(zip(names, rate.errors.T, strict=True)):
        axis.semilogy(squares, errors, ".-", color=COLORS[i], label=name)
    axis.set_xlabel("β², β the length of the words")
    axis.set_ylabel("largest error of the context")
    _legend_above(axis)


def mass_line(figure: Figure, place: SubplotSpec, *, found: Sharpness) -> None:
    """Draw the mass of the wanted keys against β."""
    axis = figure.add_subplot(place)
    betas = np.linspace(0, max(1.6 * found.beta, 4), 200)
    mass = [mass_at(float(b), n_tokens=found.n_tokens, wanted=found.wanted) for b in betas]
    axis.plot(betas, mass, color=COLORS[0])
    axis.plot([found.beta] * 2, [0, found.mass], color=INK, linestyle=":", linewidth=1)
    axis.annotate(
        f"β = {found.beta:.3g}: {found.mass:g}", (found.beta, found.mass), xytext=(4, -14),
        textcoords="offset points", fontsize=9,
    )  # fmt: skip
    axis.set_xlabel("β")
    axis.set_ylabel(f"mass on {found.wanted} of {found.n_tokens} keys")
    axis.set_ylim(0, 1.03)
    axis.set_xlim(left=0)


def _legend_above(axis: Any) -> None:
    """Put the legend where no bar or line can be."""
    _, labels = axis.get_legend_handles_labels()
    columns = 1 if max(map(len, labels), default=0) > 16 else min(len(labels), 3)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize=8)
