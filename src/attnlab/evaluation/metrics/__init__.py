"""Metrics by name, one file each: functions of the table of predictions."""

from collections.abc import Mapping

from attnlab.errors import DamagedFileError, unknown_name
from attnlab.evaluation.metrics.accuracy import ACCURACY
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER
from attnlab.evaluation.metrics.contract import Answers, Metric
from attnlab.evaluation.metrics.f1 import F1
from attnlab.evaluation.metrics.perplexity import PERPLEXITY

__all__ = ["ACCURACY", "METRICS", "Answers", "Metric", "check_answers", "metric_called"]

METRICS: Mapping[str, Metric] = {
    metric.name: metric for metric in (ACCURACY, F1, PERPLEXITY, BITS_PER_CHARACTER)
}


def metric_called(name: str) -> Metric:
    """Return the metric of that name."""
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name]


def check_answers(answers: Answers, metric: Metric, *, n: int, place: str) -> None:
    """Refuse stored answers that are not ``n`` rows with what the metric needs."""
    if len(answers) != n or not answers:
        raise DamagedFileError(f"{place} holds {len(answers)} rows, but its score is over {n}.")
    for number, row in enumerate(answers, 1):
        if not isinstance(row.get("id"), str):
            raise DamagedFileError(f"{place}:{number} lacks id, or it is not a text.")
        for column, fits in metric.columns.items():
            if not fits(row.get(column)):
                raise DamagedFileError(
                    f"{place}:{number} lacks {column}, or its value does not fit {metric.name}."
                )
