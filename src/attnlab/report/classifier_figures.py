"""Figures of a classifier: what it takes for what, and what its confidence is worth."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from attnlab.evaluation.confidence import CalibrationBin
from attnlab.report.figures import COLORS, PAGE_WIDTH, STYLE, plain

LONGEST_CLASS = 12
"""Characters of a class's name that fit the side of the figure on a phone."""


def confusion_figure(confusion: Sequence[Sequence[int]], classes: Sequence[str]) -> Figure:
    """Draw how the examples of each class are distributed over the predicted classes."""
    counts = np.array(confusion)
    shares = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [plain(_cut(name)) for name in classes]
    longest = max(map(len, names))
    is_upright = longest * len(names) > 20  # side by side they would overlap on a phone
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        height = 1.4 + 0.36 * len(classes) + (0.1 * longest if is_upright else 0)
        figure = Figure(figsize=(PAGE_WIDTH * 0.75, height), layout="constrained")
        axis = figure.subplots()
        image = axis.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=100)
        axis.set_xticks(range(len(names)), names, rotation=90 if is_upright else 0)
        axis.set_yticks(range(len(names)), names)
        axis.set_xlabel("predicted class")
        axis.set_ylabel("true class")
        axis.set_title("Predictions (% of the true class)")
        figure.colorbar(image, ax=axis, fraction=0.03)
    return figure


def calibration_figure(bins: Sequence[CalibrationBin]) -> Figure:
    """Draw accuracy against confidence; a calibrated classifier stays on the diagonal."""
    x, y = ([100 * value for value in column] for column in _columns(bins))
    below = [max(0.0, 100 * (one.accuracy - one.interval.low)) for one in bins]
    above = [max(0.0, 100 * (one.interval.high - one.accuracy)) for one in bins]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(PAGE_WIDTH * 0.75, 3.8), layout="constrained")
        axis = figure.subplots()
        axis.plot([0, 100], [0, 100], ":", color="#808080")
        axis.errorbar(x, y, yerr=[below, above], fmt="o", color=COLORS[0], capsize=3)
        axis.set_title("Accuracy (%) by confidence")
        axis.set_xlabel("confidence (%)")
        axis.set_xlim(max(0.0, min(x) - 5), 100)
        axis.set_ylim(0, 102)
    return figure


def _columns(bins: Sequence[CalibrationBin]) -> tuple[list[float], list[float]]:
    return [one.confidence for one in bins], [one.accuracy for one in bins]


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_CLASS else f"{name[: LONGEST_CLASS - 1]}…"
