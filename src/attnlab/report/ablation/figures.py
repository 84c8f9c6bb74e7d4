"""Figures of an ablation: scores, perplexity over the training, and perplexity by position."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, MaxNLocator, StrMethodFormatter

from attnlab.report.ablation.entries import Ablation, Entry, logged, smoothed
from attnlab.report.ablation.tables import PERPLEXITY_KEY
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

MOST_LINES = 8
"""Conditions whose curves can be told apart: the control and the best of the others."""
HIGHEST = 4.0
"""Times the lowest perplexity; what is above belongs to the first steps and would hide the rest."""


def score_dots(ablation: Ablation) -> Figure:
    """Draw bits per character with intervals, one line per condition, and the control's."""
    entries = sorted(ablation.entries, key=lambda entry: entry.bits.score)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(PAGE_WIDTH, 1.0 + 0.3 * len(entries)), layout="constrained")
        axis = figure.subplots()
        for row, entry in enumerate(entries):
            score, (low, high) = entry.bits.score, entry.bits.interval
            error = [[max(0.0, score - low)], [max(0.0, high - score)]]
            color = COLORS[5] if entry.leak_bits is not None else COLORS[0]
            axis.errorbar(score, row, xerr=error, color=color, marker="o", capsize=3)
            axis.plot(entry.bits.scores, [row] * len(entry.runs), "|", color=INK, markersize=5)
        axis.axvline(ablation.control.bits.score, color=INK, linewidth=1, linestyle=":")
        axis.set_yticks(range(len(entries)), [plain(entry.name) for entry in entries])
        axis.set_ylim(len(entries) - 0.5, -0.5)
        axis.set_title("Bits per character on held-out text")
    return figure


def perplexity_curves(ablation: Ablation) -> Figure:
    """Draw the loss, and the perplexity of training and validation, averaged over the seeds."""
    entries = ablation.entries[:MOST_LINES]
    with mpl.rc_context(STYLE):
        figure, axes, looks = _panels(entries, 3)
        loss, train, held_out = axes
        for entry, look in zip(entries, looks, strict=False):
            losses = [logged(run, "loss") for run in entry.runs]
            loss.plot(*_mean_curve(entry, losses, "loss"), **look)
            train.plot(*_mean_curve(entry, [smoothed(one) for one in losses], "loss"), **look)
            tables = [logged(run, PERPLEXITY_KEY) for run in entry.runs]
            held_out.plot(*_mean_curve(entry, tables, PERPLEXITY_KEY), marker=".", **look)
        titles = ("Training loss", "Training perplexity, smoothed", "Validation perplexity")
        for axis, title in zip(axes, titles, strict=True):
            axis.set_title(title, fontsize="medium")
            axis.set_xlabel("step")
            axis.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
            axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            _cut_the_first_steps(axis)
        legend_below(figure, train.get_lines(), [plain(entry.name) for entry in entries])
    return figure


def position_curves(ablation: Ablation, *, block: int) -> Figure:
    """Draw perplexity against the position of the token; training ended at the dotted line."""
    entries = [entry for entry in ablation.entries if entry.by_position()][:MOST_LINES]
    with mpl.rc_context(STYLE):
        figure, (axis,), looks = _panels(entries, 1)
        for entry, look in zip(entries, looks, strict=False):
            stretches = entry.by_position()
            middles = [(one.first + one.last) / 2 for one in stretches]
            axis.plot(middles, [one.perplexity for one in stretches], marker=".", **look)
        axis.axvline(block, color=INK, linewidth=1, linestyle=":")
        axis.set_xlabel("position of the token")
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axis.yaxis.set_minor_formatter(LogFormatter())  # 28, not 2.8 × 10¹, where labels have room
        axis.set_title("Perplexity by position")
        legend_below(figure, axis.get_lines()[:-1], [plain(entry.name) for entry in entries])
    return figure


def _panels(entries: Sequence[Entry], count: int) -> tuple[Figure, Sequence[Axes], Any]:
    names = [plain(entry.name) for entry in entries]
    size = (PAGE_WIDTH, 3.0 + legend_height(names, width=PAGE_WIDTH))
    figure = Figure(figsize=size, layout="constrained")
    looks = cycle({"linestyle": stroke, "color": color} for stroke in STROKES for color in COLORS)
    return figure, list(figure.subplots(1, count, squeeze=False)[0]), looks


def _mean_curve(
    entry: Entry, tables: Sequence[Sequence[float]], key: str
) -> tuple[list[float], list[float]]:
    """Average over the seeds, as far as all of them have logged."""
    steps = [float(line["step"]) for line in entry.runs[0].metrics() if key in line]
    length = min(len(steps), *map(len, tables))
    return steps[:length], np.mean([table[:length] for table in tables], axis=0).tolist()


def _cut_the_first_steps(axis: Axes) -> None:
    """Leave out what would hide the rest, but of every curve show at least where it ends."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in axis.get_lines()]
    curves = [curve for curve in curves if curve.size]
    if curves:
        lowest, highest = min(map(np.min, curves)), max(map(np.max, curves))
        ends = max(curve[-1] for curve in curves)
        most = max(HIGHEST * lowest, 1.5 * ends)  # with some of the way there
        axis.set_ylim(0.95 * lowest, min(1.05 * highest, most))
