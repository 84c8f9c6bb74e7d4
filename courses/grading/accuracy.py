"""How many answers are right, in words, and whether a model has learned more than one of them."""

from collections import Counter
from collections.abc import Sequence

from attnlab.evaluation.intervals import wilson


def accuracy_of(right: int, n: int) -> str:
    """Say how many are right, with an interval."""
    low, high = wilson(right, n)
    return f"{right} of {n} right, {right / n:.1%}, 95 % interval {low:.1%} – {high:.1%}"


def collapse(
    labels: Sequence[str], predicted: Sequence[str], what: str = "questions"
) -> str | None:
    """Say if a model only ever gets its most frequent answer right, which needs no knowledge."""
    ((usual, count),) = Counter(predicted).most_common(1)
    pairs = list(zip(labels, predicted, strict=True))
    if any(label == place != usual for label, place in pairs):
        return None
    right = sum(label == place for label, place in pairs)
    if not right:
        return "it did not learn: none of its answers is right"
    return (
        f"it did not learn: it answers {usual!r} to {count} of {len(labels)} {what}, and none of"
        f" its {right} right answers is another"
    )
