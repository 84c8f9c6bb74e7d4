"""Macro-averaged F1: the plain mean of the classes' F1, so that rare classes count fully.

The F1 of a class is the harmonic mean of precision and recall, 2·TP / (2·TP + FP + FN). Its
denominator is how often the class is the gold label plus how often it is predicted; a class with
neither has no F1 and is left out of the mean. This is scikit-learn's ``average="macro"``.
"""

from collections.abc import Sequence

from attnlab.evaluation.metrics.contract import LABELS, Answers, Array, Metric


def features(tables: Sequence[Answers]) -> Array:
    """Return twice the hits of each class, then how often it is gold or predicted.

    The classes are all labels of all tables, so that the columns of the tables agree.
    """
    import numpy as np

    labels = [[(row["gold"], row["prediction"]) for row in rows] for rows in tables]
    classes: dict[str | int, int] = {}
    numbers = [
        [[classes.setdefault(label, len(classes)) for label in pair] for pair in rows]
        for rows in labels
    ]
    is_class = np.array(numbers)[..., None] == np.arange(len(classes))  # (R, N, 2, C)
    gold, predicted = is_class[..., 0, :], is_class[..., 1, :]
    return np.concatenate([2.0 * (gold & predicted), 1.0 * gold + predicted], axis=-1)


def finish(sums: Array) -> Array:
    """Return the mean F1 of the classes that occur."""
    import numpy as np

    hits, occurrences = np.split(sums, 2, axis=-1)
    occurs = occurrences > 0
    scores = np.divide(hits, occurrences, out=np.zeros_like(hits), where=occurs)
    return np.asarray(scores.sum(axis=-1) / occurs.sum(axis=-1))


F1 = Metric("f1", "macro F1", columns=LABELS, features=features, finish=finish)
