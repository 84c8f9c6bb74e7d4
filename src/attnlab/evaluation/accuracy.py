"""Accuracy with its interval, and how it compares with always giving one answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.evaluation.intervals import wilson
from attnlab.evaluation.metrics import ACCURACY, Answers
from attnlab.evaluation.significance import SIGNIFICANT, mcnemar


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


def collapse_verdict(gold: Sequence[str], predicted: Sequence[str]) -> str | None:
    """Say if a classifier gives one answer to everything, or scores just what that would give."""
    right, n = sum(a == b for a, b in zip(gold, predicted, strict=True)), len(gold)
    if len(set(gold)) < 2:
        return None
    if len(set(predicted)) == 1:
        return f"did not learn: it answers {predicted[0]!r} to all {n:,} examples ({right:,} right)"
    commonest, count = Counter(gold).most_common(1)[0]
    if right == count:
        return (
            f"scores exactly what always answering {commonest!r} gives ({count:,} of {n:,}):"
            " it may not have learned"
        )
    return None


def against_guessing(split: str, score: Mapping[str, Any], answers: Answers) -> str | None:
    """Say in a sentence how a run compares with always giving one answer, on the same examples."""
    baseline = score.get("baseline")
    if not baseline or "answer" not in baseline or score["metric"] != "accuracy":
        return None
    ours = [row["prediction"] == row["gold"] for row in answers]
    theirs = [row["gold"] == baseline["answer"] for row in answers]
    p = mcnemar(theirs, ours)
    facts = f"p = {p:.2g}, exact McNemar, n = {score['n']:,}"
    if p >= SIGNIFICANT:
        return f"On {split} it is not distinguishable from {baseline['name']}; {facts}."
    difference = score["value"] - baseline["value"]
    word, size = "better" if difference > 0 else "worse", ACCURACY.write_difference(difference)
    return f"On {split} it is {word} than {baseline['name']} by {size}; {facts}."
