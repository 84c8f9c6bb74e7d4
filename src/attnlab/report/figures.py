"""Figures of runs: curves over training, scores with their intervals."""

import io
import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attnlab.evaluation.comparison import Comparison

INK = "#1a1b1c"
COLOURS = ("#3b82c4", "#d9772b", "#459a55", "#a267b5", "#b58a1f", "#c85d72")
STROKES: Final = ("-", "--", ":")
MOST_POINTS = 400
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
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


def curves(runs: Mapping[str, Sequence[Mapping[str, Any]]], *, per_epoch: float | None) -> Figure:
    """Draw the training loss, and the accuracy on train and dev, over epochs (or steps)."""
    scored = sorted({k for lines in runs.values() for line in lines for k in line if "_acc" in k})
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 3.2 + 0.12 * len(runs)), layout="constrained")
        axes = figure.subplots(1, 2 if scored else 1, squeeze=False)[0]
        for colour, (name, lines) in zip(cycle(COLOURS), runs.items(), strict=False):
            _line(axes[0], lines, "loss", per_epoch, color=colour, label=name)
            for key, style in zip(scored, STROKES, strict=False):
                _line(axes[1], lines, key, per_epoch, color=colour, linestyle=style)
        axes[0].set_ylabel("training loss")
        if len(runs) > 1:
            figure.legend(loc="outside lower center", ncols=2)
        if scored:
            axes[1].set_ylabel("accuracy")
            axes[1].set_ylim(-0.02, 1.02)
            names = [key.removesuffix("_accuracy") for key in scored][: len(STROKES)]
            strokes = [Line2D([], [], color=INK, linestyle=style) for style in STROKES]
            axes[1].legend(strokes[: len(names)], names)
        for axis in axes:
            axis.set_xlabel("epoch" if per_epoch else "step")
            axis.set_xlim(left=0)
    return figure


def score_bars(comparison: Comparison) -> Figure:
    """Draw every condition's score with its 95 % interval, and what guessing gives."""
    conditions, metric = comparison.conditions, comparison.metric
    unit = 100 if metric.name == "accuracy" else 1
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 0.9 + 0.45 * len(conditions)), layout="constrained")
        axis = figure.subplots()
        for row, condition in enumerate(conditions):
            low, high = condition.interval
            score = condition.score
            error = [[unit * max(0.0, score - low)], [unit * max(0.0, high - score)]]
            axis.barh(row, unit * score, color=COLOURS[0], alpha=0.55, height=0.6)
            axis.errorbar(unit * score, row, xerr=error, color=INK, capsize=4, linestyle="none")
            if len(condition.scores) > 1:
                dots = [unit * one for one in condition.scores]
                axis.plot(dots, [row] * len(dots), "o", color=COLOURS[1], markersize=4)
            if condition.baseline:
                guess = unit * condition.baseline["value"]
                axis.plot([guess, guess], [row - 0.4, row + 0.4], color=COLOURS[5], linewidth=2)
        axis.set_yticks(range(len(conditions)), [condition.name for condition in conditions])
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlim(left=0)
        axis.set_xlabel(f"{metric.name} on {comparison.split}" + (" (%)" if unit == 100 else ""))
    return figure


def as_png(figure: Figure) -> bytes:
    """Render for a slide or a document, on white."""
    return _render(figure, "png", dpi=160, facecolor="white")


def as_svg(figure: Figure) -> bytes:
    """Render as vectors, on white."""
    return _render(figure, "svg", facecolor="white", metadata={"Date": None})


def as_inline_svg(figure: Figure, name: str) -> str:
    """Render for a page: no background, ink in the page's own colour, ids of its own."""
    text = _render(figure, "svg", facecolor="none", metadata={"Date": None}).decode()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" ?', r"<svg \1", re.sub(r' height="[^"]*pt"', "", text)
    )


def _render(figure: Figure, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=kind, **options)
    return buffer.getvalue()


def _line(
    axis: Axes,
    lines: Sequence[Mapping[str, Any]],
    key: str,
    per_epoch: float | None,
    **style: Any,
) -> None:
    """Draw one logged quantity; a long log is averaged down to a few hundred points."""
    rows = [(line["step"] / (per_epoch or 1), line[key]) for line in lines if key in line]
    if not rows:
        return
    groups = np.array_split(np.array(rows, dtype=float), min(len(rows), MOST_POINTS))
    points = np.array([group.mean(axis=0) for group in groups])
    axis.plot(points[:, 0], points[:, 1], marker="." if len(points) < 20 else None, **style)
