"""Several runs side by side, on a terminal or as JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.evaluation.comparison import Comparison
from attnlab.report.grids import comparison_grid
from attnlab.report.terminal import grid_view


def comparison_view(comparison: Comparison) -> RenderableType:
    """Show the conditions, then what can be said about every pair of them, then the doubts."""
    title = f"{comparison.metric.title} on {comparison.split}, n = {comparison.n:,}"
    verdicts = [Text(f"• {pair.verdict}") for pair in comparison.pairs]
    notes = [Text(f"! {note}", "red") for note in comparison.notes]
    parts: list[RenderableType] = [Text(title, "bold"), grid_view(comparison_grid(comparison))]
    for lines in (verdicts, notes):
        parts += [Text(), *lines] if lines else []
    return Group(*parts)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    return {
        "split": comparison.split,
        "n": comparison.n,
        "metric": comparison.metric.name,
        "conditions": [asdict(condition) for condition in comparison.conditions],
        "pairs": [asdict(pair) for pair in comparison.pairs],
        "notes": list(comparison.notes),
    }
