"""What a metric is: a function of the table of predictions, computed from sums over its rows.

Each row has some numbers, its features, and the score is a function of their sums. Drawing rows
again, or swapping rows between two runs, is then one matrix product whatever the metric.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnlab.evaluation.intervals import Interval, percent

if TYPE_CHECKING:  # listing runs writes scores and must not wait for numpy
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    Array = Any

Answers = Sequence[Mapping[str, Any]]
"""Rows of predictions/SPLIT.jsonl."""


@dataclass(frozen=True)
class Metric:
    """A score of a table of predictions, with its direction and how it is written."""

    name: str
    title: str
    """What a reader should call it."""
    columns: Mapping[str, Callable[[Any], bool]]
    """The columns it needs, each with a check of a value."""
    features: Callable[[Sequence[Answers]], Array]
    """From R tables of the same N examples to R × N × F numbers."""
    finish: Callable[[Array], Array]
    """From sums of features over rows, (…, F), to scores, (…)."""
    bounds: Interval = Interval(0.0, 1.0)
    """The lowest and the highest score there can be."""
    higher_is_better: bool = True
    in_percent: bool = True

    def score(self, answers: Answers) -> float:
        """Score one table."""
        return float(self.finish(self.features([answers])[0].sum(axis=0)))

    def within_bounds(self, interval: Interval) -> Interval:
        """Cut off what no score can reach."""
        return Interval(max(self.bounds.low, interval.low), min(self.bounds.high, interval.high))

    def write(self, score: float) -> str:
        """Write a score."""
        return percent(score, 1) if self.in_percent else f"{score:.2f}"

    def write_difference(self, difference: float) -> str:
        """Write how far two scores are apart, without the sign."""
        size = abs(difference)
        return f"{100 * size:.1f} points" if self.in_percent else f"{size:.2f}"

    def write_signed(self, difference: float) -> str:
        """Write a difference with its sign, without the unit."""
        return f"{100 * difference:+.1f}" if self.in_percent else f"{difference:+.2f}"


def is_label(value: Any) -> bool:
    """Say whether a value can be a gold or predicted label."""
    return isinstance(value, str | int)


LABELS = {"gold": is_label, "prediction": is_label}
"""The columns of a metric that compares labels."""


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def is_count(value: Any) -> bool:
    """Say whether a value is a whole number that can count something."""
    return isinstance(value, int) and value >= 0


def is_positive(value: Any) -> bool:
    """Say whether a value is a number above zero."""
    return is_number(value) and value > 0
