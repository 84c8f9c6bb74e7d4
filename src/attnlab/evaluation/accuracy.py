"""Accuracy with its interval, and with what guessing would score."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attnlab.evaluation.collapse import collapse_verdict
from attnlab.evaluation.intervals import wilson


def share_right(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the share of answers that are right."""
    return sum(a == b for a, b in zip(gold, predicted, strict=True)) / len(gold)


def score_answers(
    gold: Sequence[str], predicted: Sequence[str], *, train_gold: Sequence[str]
) -> dict[str, Any]:
    """Compare answers with the truth, and with always giving the commonest training answer."""
    right = sum(a == b for a, b in zip(gold, predicted, strict=True))
    commonest, _ = Counter(train_gold).most_common(1)[0]
    guessed = sum(answer == commonest for answer in gold)
    return {
        "metric": "accuracy",
        "value": right / len(gold),
        "right": right,
        "n": len(gold),
        "interval": list(wilson(right, len(gold))),
        "baseline": {
            "name": f"always {commonest}",
            "answer": commonest,
            "value": guessed / len(gold),
            "right": guessed,
        },
        "verdict": collapse_verdict(gold, predicted),
    }
