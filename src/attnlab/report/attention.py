"""What attention costs, on a terminal and in figures."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter
from rich.console import Group, RenderableType

from attnlab.checks.cost import Cost, Growth, growth
from attnlab.report.figures import COLORS, PAGE_WIDTH, STROKES, STYLE, legend_below, legend_height
from attnlab.report.one_line import OneLineTable

LONG = 512
"""From this length on the time grows with the length rather than with fixed overhead."""


def costs_view(costs: Sequence[Cost]) -> RenderableType:
    """Show milliseconds, their spread with how the time grows, and megabytes; a line a variant."""
    names = list(dict.fromkeys(cost.name for cost in costs))
    lengths = sorted({cost.length for cost in costs})
    by_key = {(cost.name, cost.length): cost for cost in costs}
    times, spreads, memory = list[list[str]](), list[list[str]](), list[list[str]]()
    for name in names:
        cells = [by_key.get((name, length)) for length in lengths]
        rise = _growth_words(growth(costs, name, above=LONG))
        times.append([name, *(f"{1e3 * c.seconds:.1f}" if c else "–" for c in cells)])
        spreads.append([name, *map(_spread, cells), rise])
        memory.append([name, *(f"{c.peak_bytes / 1e6:.0f}" if c else "–" for c in cells)])
    header = [*map(str, lengths)]
    return Group(
        OneLineTable(["ms", *header], times),
        "",
        OneLineTable(["± of ms", *header, f"time from {LONG}"], spreads),
        "",
        OneLineTable(["MB", *header], memory),
    )


def _spread(cost: Cost | None) -> str:
    return "–" if cost is None or cost.spread is None else f"{cost.spread:.0%}"


def _growth_words(found: Growth | None) -> str:
    if found is None:
        return "–"
    low, high = found.interval
    if found.is_open:
        return f"noisy, n^{low:.1f} to n^{high:.1f}"
    return f"n^{found.exponent:.2f} ({low:.2f} to {high:.2f})"


def costs_figure(costs: Sequence[Cost]) -> Figure:
    """Draw milliseconds and megabytes against the length, all axes logarithmic."""
    looks = cycle([(stroke, color) for stroke in STROKES for color in COLORS])
    names = dict(zip(dict.fromkeys(cost.name for cost in costs), looks, strict=False))
    labels = [_with_growth(name, growth(costs, name, above=LONG)) for name in names]
    with mpl.rc_context(STYLE):
        size = (PAGE_WIDTH, 4.0 + legend_height(labels, width=PAGE_WIDTH))
        figure = Figure(figsize=size, layout="constrained")
        times, memory = figure.subplots(1, 2)
        for name, (stroke, color) in names.items():
            own = [cost for cost in costs if cost.name == name]
            lengths = [cost.length for cost in own]
            look: Any = {"color": color, "linestyle": stroke, "marker": "."}
            times.plot(lengths, [1e3 * cost.seconds for cost in own], **look)
            memory.plot(lengths, [cost.peak_bytes / 1e6 for cost in own], **look)
        times.set_title("Time, forward and backward (ms)")
        memory.set_title("Peak memory (MB)")
        for axis in (times, memory):
            _log_axes(axis, sorted({cost.length for cost in costs}))
        legend_below(figure, times.get_lines(), labels)
    return figure


def _log_axes(axis: Axes, lengths: Sequence[int]) -> None:
    """Label logarithmic axes with numbers as people write them: 64, 1,024, 0.5."""
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("tokens")
    axis.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.minorticks_off()


def _with_growth(name: str, found: Growth | None) -> str:
    if found is None or found.is_open:
        return name
    return f"{name} (n^{found.exponent:.2f})"
