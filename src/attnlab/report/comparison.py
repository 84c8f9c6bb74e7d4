"""A comparison of runs, on a terminal or as JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from attnlab.evaluation.comparison import Comparison
from attnlab.report.sections.comparison import comparison_blocks
from attnlab.report.terminal import blocks_view


def comparison_view(comparison: Comparison) -> RenderableType:
    """Show the conditions, then what can be said about every pair of them, then the doubts."""
    return blocks_view(comparison_blocks(comparison))


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
