"""Is a model better than the simplest guess?"""

from collections.abc import Mapping
from typing import Any

from attnlab.evaluation.metrics import ACCURACY, Answers, Metric
from attnlab.evaluation.paired import mcnemar


def against_guessing(split: str, score: Mapping[str, Any], answers: Answers) -> str | None:
    """Say in a sentence how a run stands to always giving one answer, on the same examples."""
    baseline = score.get("baseline")
    if not baseline or "answer" not in baseline or score["metric"] != "accuracy":
        return None
    ours = [row["prediction"] == row["gold"] for row in answers]
    theirs = [row["gold"] == baseline["answer"] for row in answers]
    p = mcnemar(theirs, ours)
    difference = score["value"] - baseline["value"]
    size = ACCURACY.write_difference(difference)
    facts = f"p = {p:.2g}, exact McNemar, n = {score['n']:,}"
    if p >= 0.05:
        return f"On {split} it is not distinguishable from {baseline['name']}; {facts}."
    word = "better" if difference > 0 else "worse"
    return f"On {split} it is {word} than {baseline['name']} by {size}; {facts}."


def baseline_by(
    metric: Metric, score: Mapping[str, Any], answers: Answers
) -> Mapping[str, Any] | None:
    """Return what always giving one answer scores by this metric, if the run's record names one."""
    baseline: Mapping[str, Any] | None = score.get("baseline")
    if baseline is None or metric.name == score["metric"]:
        return baseline
    if "answer" not in baseline or "prediction" not in metric.columns:
        return None
    constant = [{**row, "prediction": baseline["answer"]} for row in answers]
    return {
        "name": baseline["name"],
        "answer": baseline["answer"],
        "value": metric.score(constant),
    }
