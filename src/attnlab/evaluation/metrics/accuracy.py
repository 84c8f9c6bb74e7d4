"""Accuracy: the share of right answers."""

from collections.abc import Sequence

from attnlab.evaluation.metrics.contract import LABELS, Answers, Array, Metric


def features(tables: Sequence[Answers]) -> Array:
    """Return for each row whether it is right, and 1 for being there."""
    import numpy as np

    right = [[row["gold"] == row["prediction"] for row in rows] for rows in tables]
    return np.stack([np.array(right, dtype=float), np.ones(np.shape(right))], axis=-1)


def finish(sums: Array) -> Array:
    """Divide the right answers by all of them."""
    right, n = sums[..., 0], sums[..., 1]
    return right / n


ACCURACY = Metric("accuracy", "accuracy", columns=LABELS, features=features, finish=finish)
