"""What is measured on an example, how the mean is finished, and how it is written."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attnlab.errors import DamagedFileError, unknown_name
from attnlab.evaluation.intervals import percent

Answers = Sequence[Mapping[str, Any]]
"""Rows of predictions/SPLIT.jsonl."""


@runtime_checkable
class Metric(Protocol):
    """A mean over examples with a direction."""

    name: str
    higher_is_better: bool

    def values(self, answers: Answers) -> list[float]:
        """Return what each example adds to the sum."""

    def weights(self, answers: Answers) -> list[float]:
        """Return how much each example counts in the mean."""

    def finish(self, mean: float) -> float:
        """Turn the mean into the score, kept within what is possible."""

    def difference(self, score: float, change: float) -> float:
        """Say how far the score moves if its mean changes by so much."""

    def write(self, score: float) -> str:
        """Write a score."""

    def write_difference(self, difference: float) -> str:
        """Write how far two scores are apart, without the sign."""

    def write_signed(self, difference: float) -> str:
        """Write a difference with its sign, without the unit."""


class Accuracy:
    """The share of right answers."""

    name = "accuracy"
    higher_is_better = True

    def values(self, answers: Answers) -> list[float]:
        """Give 1 for a right answer, 0 for a wrong one."""
        return [float(row["gold"] == row["prediction"]) for row in answers]

    def weights(self, answers: Answers) -> list[float]:
        """Every example counts once."""
        return [1.0] * len(answers)

    def finish(self, mean: float) -> float:
        """The mean is the share."""
        return min(1.0, max(0.0, mean))

    def difference(self, score: float, change: float) -> float:  # noqa: ARG002
        """A share moves with its mean."""
        return change

    def write(self, score: float) -> str:
        """In per cent."""
        return percent(score, 1)

    def write_difference(self, difference: float) -> str:
        """In points of per cent."""
        return f"{100 * abs(difference):.1f} points"

    def write_signed(self, difference: float) -> str:
        """In points of per cent."""
        return f"{100 * difference:+.1f}"


class Perplexity:
    """How many tokens the model hesitates between: exp of the mean loss a token."""

    name = "perplexity"
    higher_is_better = False

    def values(self, answers: Answers) -> list[float]:
        """Take the summed loss of the example's tokens."""
        return [float(row["loss"]) for row in answers]

    def weights(self, answers: Answers) -> list[float]:
        """An example counts by its tokens."""
        return [float(row["tokens"]) for row in answers]

    def finish(self, mean: float) -> float:
        """From nats a token to perplexity."""
        return math.exp(min(700.0, max(0.0, mean)))

    def difference(self, score: float, change: float) -> float:
        """A change in nats multiplies a perplexity."""
        return score * math.expm1(min(700.0, change))

    def write(self, score: float) -> str:
        """With two decimals."""
        return f"{score:.2f}"

    def write_difference(self, difference: float) -> str:
        """With two decimals."""
        return f"{abs(difference):.2f}"

    def write_signed(self, difference: float) -> str:
        """With two decimals."""
        return f"{difference:+.2f}"


NEEDED: Mapping[str, Mapping[str, Any]] = {
    "accuracy": {"gold": str | int, "prediction": str | int},
    "perplexity": {"loss": int | float, "tokens": int | float},
}
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in (Accuracy(), Perplexity())}


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
        for field, kind in {"id": str, **NEEDED[metric.name]}.items():
            if not isinstance(row.get(field), kind):
                raise DamagedFileError(f"{place}:{number} lacks {field}, or it is of another kind.")
        if metric.name == "perplexity" and not row["tokens"] > 0:
            raise DamagedFileError(f"{place}:{number} has no tokens.")
