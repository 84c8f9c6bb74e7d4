"""Figures of runs: training curves, scores with their intervals."""

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
COLORS = ("#3b82c4", "#d9772b", "#459a55", "#a267b5", "#b58a1f", "#c85d72")
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
    """Draw the training loss, and loss and accuracy on train and dev, over epochs (or steps)."""
    logged = sorted({key for lines in runs.values() for line in lines for key in line})
    panels = [
        ("training loss", ["loss"]),
        ("loss when evaluated", [key for key in logged if key.endswith("_loss")]),
        ("accuracy", [key for key in logged if key.endswith("_accuracy")]),
    ]
    panels = [(title, keys) for title, keys in panels if keys]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2 + 3 * len(panels), 3.2 + 0.12 * len(runs)), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, (title, keys) in zip(axes, panels, strict=True):
            for colour, (name, lines) in zip(cycle(COLORS), runs.items(), strict=False):
                for key, style in zip(keys, cycle(STROKES), strict=False):
                    label = _plain(name) if key == "loss" else None
                    look = {"color": colour, "linestyle": style, "label": label}
                    _line(axis, lines, key, per_epoch, **look)
            if len(keys) > 1:
                strokes = [Line2D([], [], color=INK, linestyle=style) for style in STROKES]
                axis.legend(strokes[: len(keys)], [key.rpartition("_")[0] for key in keys][:3])
            axis.set_ylabel(title)
            axis.set_xlabel("epoch" if per_epoch else "step")
            axis.set_xlim(left=0)
            if title == "accuracy":
                axis.set_ylim(-0.02, 1.02)
        if len(runs) > 1:
            figure.legend(loc="outside lower center", ncols=2)
    return figure


def score_bars(comparison: Comparison) -> Figure:
    """Draw every condition's score with its 95 % interval, and what guessing gives."""
    conditions, metric = comparison.conditions, comparison.metric
    unit = 100 if metric.in_percent else 1
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 0.9 + 0.45 * len(conditions)), layout="constrained")
        axis = figure.subplots()
        for row, condition in enumerate(conditions):
            low, high = condition.interval
            score = condition.score
            error = [[unit * max(0.0, score - low)], [unit * max(0.0, high - score)]]
            axis.barh(row, unit * score, color=COLORS[0], alpha=0.55, height=0.6)
            axis.errorbar(unit * score, row, xerr=error, color=INK, capsize=4, linestyle="none")
            if len(condition.scores) > 1:
                dots = [unit * one for one in condition.scores]
                axis.plot(dots, [row] * len(dots), "o", color=COLORS[1], markersize=4)
            if condition.baseline:
                guess = unit * condition.baseline["value"]
                axis.plot([guess, guess], [row - 0.4, row + 0.4], color=COLORS[5], linewidth=2)
        axis.set_yticks(
            range(len(conditions)), [_plain(condition.name) for condition in conditions]
        )
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlim(left=0)
        axis.set_xlabel(
            f"{metric.title} on {comparison.split}" + (" (%)" if metric.in_percent else "")
        )
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
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
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


def _plain(name: str) -> str:
    """Keep matplotlib from reading a name as mathematics, or as not meant for the legend."""
    return name.replace("$", r"\$").replace("_", "\u200b_", 1)


def _line(
    axis: Axes,
    lines: Sequence[Mapping[str, Any]],
    key: str,
    per_epoch: float | None,
    **style: Any,
) -> None:
    """Draw one logged quantity; a long log is averaged down to a few hundred points."""
    logged = [line for line in lines if isinstance(line.get(key), int | float)]
    rows = [(line["step"] / (per_epoch or 1), line[key]) for line in logged]
    if not rows:
        return
    groups = np.array_split(np.array(rows, dtype=float), min(len(rows), MOST_POINTS))
    points = np.array([group.mean(axis=0) for group in groups])
    axis.plot(points[:, 0], points[:, 1], marker="." if len(points) < 20 else None, **style)
