"""How a classifier does class by class: confusion matrix, precision, recall, F1, worst mistakes.

Precision and recall are shares of the predictions, and of the examples, of a class: they have
Wilson's interval. F1 is no share, so its examples are drawn again (Efron 1979). It only depends on
how many of them are hits, misses, false alarms and the rest, so these four numbers are drawn.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnlab.evaluation.bootstrap import RESAMPLES
from attnlab.evaluation.intervals import Interval, wilson

Rows = Sequence[Mapping[str, Any]]
"""Predictions whose truth is known."""


@dataclass(frozen=True)
class Estimate:
    """A share, or an F1, with its 95 % interval."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class ClassScore:
    """What a classifier makes of one class; None is what cannot be said."""

    name: str
    n: int
    """Examples of the class."""
    predicted: int
    """Examples that are taken for one of the class."""
    precision: Estimate | None
    """None if the class was never predicted."""
    recall: Estimate | None
    """None if there is no example of it."""
    f1: Estimate | None
    """None if it neither occurs nor is predicted."""


def confusion_matrix(rows: Rows, classes: Sequence[str]) -> list[list[int]]:
    """Count the examples of each class (row) by the class that was predicted (column)."""
    counts = Counter((row["gold"], row["prediction"]) for row in rows)
    return [[counts[gold, predicted] for predicted in classes] for gold in classes]


def class_scores(confusion: Sequence[Sequence[int]], classes: Sequence[str]) -> list[ClassScore]:
    """Score every class with its intervals."""
    counts = np.array(confusion)
    return [
        _class_score(
            name,
            hits=int(counts[i, i]),
            n=int(counts[i].sum()),
            predicted=int(counts[:, i].sum()),
            total=int(counts.sum()),
        )
        for i, name in enumerate(classes)
    ]


def surest_mistakes(rows: Rows, count: int) -> list[Mapping[str, Any]]:
    """Return the wrong predictions that the classifier was surest of."""
    wrong = [row for row in rows if row["prediction"] != row["gold"]]
    return sorted(wrong, key=lambda row: -row["confidence"])[:count]


def _class_score(name: str, *, hits: int, n: int, predicted: int, total: int) -> ClassScore:
    return ClassScore(
        name,
        n,
        predicted,
        precision=Estimate(hits / predicted, wilson(hits, predicted)) if predicted else None,
        recall=Estimate(hits / n, wilson(hits, n)) if n else None,
        f1=_f1(hits, n=n, predicted=predicted, total=total) if n + predicted else None,
    )


def _f1(hits: int, *, n: int, predicted: int, total: int) -> Estimate:
    """Return 2·hits / (examples + predictions), with what other examples would have given."""
    value, misses, alarms = 2 * hits / (n + predicted), n - hits, predicted - hits
    if value in (0, 1):
        return Estimate(value, _f1_by_share(hits, hits + misses + alarms))
    cells = np.array([hits, misses, alarms, total - hits - misses - alarms])
    drawn = np.random.default_rng(0).multinomial(total, cells / total, size=RESAMPLES)
    occurrences = 2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2]
    occurs = occurrences > 0  # a draw without the class has no F1
    low, high = np.quantile(2 * drawn[occurs, 0] / occurrences[occurs], [0.025, 0.975])
    return Estimate(value, Interval(float(low), float(high)))


def _f1_by_share(hits: int, n: int) -> Interval:
    """Return the interval of an F1 of 0 or 1, which every draw repeats, as if it were certain.

    With the share s of hits among all examples that are of the class or taken for one, F1 is
    2s / (1 + s); s has Wilson's interval.
    """
    low, high = (2 * share / (1 + share) for share in wilson(hits, n))
    return Interval(low, high)
