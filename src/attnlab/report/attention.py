"""The attention lab on a terminal and in figures."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.checks.cost import Cost, Growth, growth
from attnlab.checks.findings import Finding
from attnlab.report.figures import COLORS, STROKES, STYLE
from attnlab.report.terminal import add_row, table_of

LONG = 512
"""From this length on the time grows with the length rather than with fixed overhead."""


def findings_view(report: Mapping[str, Sequence[Finding]]) -> RenderableType:
    """Show what was found: one table for the functions and one per class."""
    parts: list[RenderableType] = []
    for name, findings in report.items():
        table = table_of("", name, "")
        for finding in findings:
            mark = Text("right", "green") if finding.right else Text("wrong", "red")
            add_row(table, mark, finding.what, finding.problem or "")
        parts += [table, ""]
    wrong = sum(not finding.right for findings in report.values() for finding in findings)
    total = sum(map(len, report.values()))
    parts.append(f"{total - wrong} of {total} right")
    return Group(*parts)


def findings_json(report: Mapping[str, Sequence[Finding]]) -> dict[str, Any]:
    """Return what was found as plain data."""
    return {
        name: [{"what": f.what, "right": f.right, "problem": f.problem} for f in findings]
        for name, findings in report.items()
    }


def variant_view(info: Mapping[str, Any]) -> RenderableType:
    """Show one variant: in words, then what it takes and promises."""
    table = table_of()
    for option, written in info["options"].items():
        add_row(table, "option", f"{option}: {written}")
    add_row(table, "supports", ", ".join(info["supports"]))
    add_row(table, "positions", ", ".join(info["positions"]))
    if info["breaks"]:
        add_row(table, "breaks", Text(", ".join(info["breaks"]), "red"))
    if info["null_directions"]:
        add_row(table, "no gradient", ", ".join(info["null_directions"]))
    size = ", ".join(f"{name} {value}" for name, value in info["size"].items())
    total = sum(prod(shape) for shape in info["parameters"].values())
    add_row(table, "parameters", f"{total:,} with {size}")
    for name, shape in info["parameters"].items():
        add_row(table, "", f"{name} {tuple(shape)}")
    return Group(Text(_flowing(info["about"])), "", table)


def mutants_view(reports: Mapping[str, Mapping[str, Sequence[Finding]]]) -> RenderableType:
    """Show which check catches which bug: x where it does."""
    parts: list[RenderableType] = []
    for kind in next(iter(reports.values())):
        checks = [finding.what for finding in next(iter(reports.values()))[kind]]
        table = table_of(kind, *(str(number) for number in range(1, len(checks) + 1)))
        for mutant, report in reports.items():
            add_row(table, mutant, *("·" if finding.right else "x" for finding in report[kind]))
        legend = ", ".join(f"{number} {what}" for number, what in enumerate(checks, 1))
        parts += [table, Text(legend, "dim"), ""]
    sentences = table_of("bug", "what the check says")
    for mutant, report in reports.items():
        problems = [f.problem for findings in report.values() for f in findings if f.problem]
        add_row(sentences, mutant, problems[0] if problems else "–")
    return Group(*parts, sentences)


def costs_view(costs: Sequence[Cost]) -> RenderableType:
    """Show milliseconds with their spread, megabytes, and how the time grows."""
    names = list(dict.fromkeys(cost.name for cost in costs))
    lengths = sorted({cost.length for cost in costs})
    by_key = {(cost.name, cost.length): cost for cost in costs}
    times = table_of("ms", *map(str, lengths), f"from {LONG}")
    memory = table_of("MB", *map(str, lengths))
    for name in names:
        cells = [by_key.get((name, length)) for length in lengths]
        rise = _growth_words(growth(costs, name, above=LONG))
        add_row(times, name, *map(_milliseconds, cells), rise)
        add_row(memory, name, *(f"{c.peak_bytes / 1e6:.0f}" if c else "–" for c in cells))
    return Group(times, "", memory)


def _milliseconds(cost: Cost | None) -> str:
    if cost is None:
        return "–"
    spread = "" if cost.spread is None else f" ±{cost.spread:.0%}"
    return f"{1e3 * cost.seconds:.1f}{spread}"


def _growth_words(found: Growth | None) -> str:
    if found is None:
        return "–"
    low, high = found.interval
    if found.is_open:
        return f"too noisy to say (n^{low:.1f} to n^{high:.1f})"
    return f"n^{found.exponent:.2f} ({low:.2f} to {high:.2f})"


def costs_figure(costs: Sequence[Cost]) -> Figure:
    """Draw seconds and memory against the length, both axes logarithmic."""
    names = list(dict.fromkeys(cost.name for cost in costs))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 4.2 + 0.1 * len(names)), layout="constrained")
        for axis, what in zip(figure.subplots(1, 2), ("seconds", "peak_bytes"), strict=True):
            for index, name in enumerate(names):
                own = [cost for cost in costs if cost.name == name]
                grows = growth(costs, name, above=LONG)
                axis.loglog(
                    [cost.length for cost in own],
                    [getattr(cost, what) for cost in own],
                    color=COLORS[index % len(COLORS)],
                    linestyle=STROKES[index // len(COLORS) % len(STROKES)],
                    marker=".",
                    label=name
                    if grows is None or grows.is_open
                    else f"{name} (n^{grows.exponent:.2f})",
                )
            axis.set_xlabel("n tokens")
            axis.set_ylabel(
                "seconds, forward and backward" if what == "seconds" else "bytes at once"
            )
            axis.set_xscale("log", base=2)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _flowing(docstring: str) -> str:
    """Join the lines of each paragraph, which were broken for the source; examples stay."""
    paragraphs = docstring.replace("``", "").split("\n\n")
    return "\n\n".join(
        text if text.startswith(" ") else " ".join(text.split()) for text in paragraphs
    )
