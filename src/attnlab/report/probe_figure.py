"""The figure of linear probes: accuracy by layer, one panel per place."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from attnlab.report.figures import COLORS, INK, PAGE_WIDTH, STROKES, STYLE, legend_below

Probes = Mapping[str, Sequence[Mapping[str, Any]]]
"""By condition: place, layer, value and interval of each probe."""
PLACES = ("name", "before", "end")


def probe_figure(probes: Probes) -> Figure:
    """Draw one line per condition, with a band for the 95 % interval."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(PAGE_WIDTH, 3.8), layout="constrained")
        axes = figure.subplots(1, len(PLACES), sharey=True)
        for axis, place in zip(axes, PLACES, strict=True):
            for number, found in enumerate(probes.values()):
                at = [one for one in found if one["place"] == place]
                layers = [one["layer"] for one in at]
                color, stroke = COLORS[number % len(COLORS)], STROKES[number // len(COLORS)]
                axis.plot(layers, [100 * one["value"] for one in at], stroke, color=color)
                low, high = ([100 * one["interval"][end] for one in at] for end in (0, 1))
                axis.fill_between(layers, low, high, color=color, alpha=0.12, linewidth=0)
            guessing = next(iter(probes.values()))[0]["baseline"]["value"]
            axis.axhline(100 * guessing, color=INK, linestyle=":", linewidth=1)
            axis.set_title(place)
            axis.set_xlabel("layer")
            axis.set_xticks(layers)
            axis.set_ylim(bottom=0)
        axes[0].set_ylabel("right (%)")
        legend_below(figure, axes[0].get_lines()[: len(probes)], list(probes))
    return figure
