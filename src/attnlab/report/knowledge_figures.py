"""Figures of the knowledge lab: how far to trust confidence, and where a model looks."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib import font_manager
from matplotlib.figure import Figure

from attnlab.evaluation.calibration import certainty, right
from attnlab.evaluation.confidence import risk_coverage
from attnlab.report.figures import COLORS, INK, STYLE, legend_below
from attnlab.report.looks import mean_looks

Rows = Sequence[Mapping[str, Any]]
UNDRAWN = "▯"


def risk_coverage_figure(splits: Mapping[str, Rows], promises: Mapping[str, Any]) -> Figure:
    """Draw the error among the answers given against how many are given, and the threshold."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 3.8), layout="constrained")
        axis = figure.subplots()
        for colour, (split, rows) in zip(COLORS, splits.items(), strict=False):
            curve = risk_coverage(certainty(rows), right(rows))
            axis.plot(100 * curve.coverage, 100 * curve.risk, color=colour, label=split)
            kept = promises.get(split)
            if kept and kept["n"]:
                point = 100 * kept["coverage"], 100 * (1 - kept["value"])
                axis.plot(*point, "o", color=colour, label=f"{split}: what counts as retrieved")
        axis.set_title("Error rate (%)")
        axis.set_xlabel("answers given (%), surest first")
        axis.set_xlim(0, 100)
        axis.set_ylim(bottom=0)
        legend_below(figure, *axis.get_legend_handles_labels())
    return figure


def looks_figure(
    tokens: Sequence[str], weights: Sequence[Float[np.ndarray, "H T T"]], *, n_question: int
) -> Figure:
    """Draw where each token of the answer looked, one panel per layer, mean of all heads."""
    shown = [_plain(token) for token in tokens]
    askers = list(range(n_question - 1, len(tokens)))
    tall = 0.1 * max(map(len, shown))
    height = 1.0 + tall + 0.3 * len(askers)
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        figure = Figure(
            figsize=(max(6.0, 2.5 + 0.3 * len(tokens)), 0.4 + height * len(weights)),
            layout="constrained",
        )
        figure.suptitle("Where each token of the answer looked (mean of the heads)")
        axes = figure.subplots(len(weights), 1, squeeze=False)[:, 0]
        for number, (axis, layer) in enumerate(zip(axes, weights, strict=True), 1):
            mean = 100 * mean_looks(layer, n_question=n_question)
            image = axis.imshow(mean, aspect="auto", cmap="Blues", vmin=0, vmax=mean.max())
            axis.set_xticks(range(len(tokens)), shown, rotation=90 if tall > 0.1 else 0)
            axis.set_yticks(range(len(askers)), [f"after {shown[i]}" for i in askers])
            axis.axvline(n_question - 0.5, color=INK, linewidth=0.8)
            axis.set_title(f"layer {number}: attention weight (%)")
            figure.colorbar(image, ax=axis, fraction=0.03)
    return figure


def _plain(token: str) -> str:
    """Make blanks, and what the font cannot draw, visible; keep $ from starting mathematics."""
    drawn = font_manager.get_font(font_manager.findfont("DejaVu Sans")).get_charmap()
    visible = "".join(
        character if ord(character) in drawn and character.isprintable() else UNDRAWN
        for character in token.replace(" ", "␣")
    )
    return visible.replace("$", r"\$")
