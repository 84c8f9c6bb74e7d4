"""Retrieved or made up? What a model's confidence says about its answers.

A confidence is useful if right answers have more of it than wrong ones (the area under the ROC
curve: the chance that a right answer is surer than a wrong one), and if leaving out the unsure
answers leaves fewer wrong ones (risk against coverage; Geifman and El-Yaniv 2017). A threshold is
chosen on answers whose truth is known; a statistical test makes sure that it holds for others.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike, NDArray

from attnlab.evaluation.intervals import Interval, wilson

BINS = 10
MANY, PROMISE, MODEST_PROMISE = 300, 0.9, 0.8
"""Share of right answers that a threshold promises; more can be shown on many people."""
DOUBT = 0.05
"""Probability that a threshold breaks its promise by chance."""
STARTS = (0.25, 0.5)
"""Shares of the surest answers that the search for a threshold starts with."""
STEPS = 20
"""Most thresholds that are tried, from a start to all answers."""

Verdict = Literal["retrieved", "unsure", "made up"]


class Curve(NamedTuple):
    """The error rate among the surest answers, for every share of answers given."""

    coverage: Float[np.ndarray, " N"]
    risk: Float[np.ndarray, " N"]

    @property
    def area(self) -> float:
        """The mean risk over all coverages; 0 is best."""
        return float(self.risk.mean())


class CalibrationBin(NamedTuple):
    """Answers of similar confidence: their mean confidence, and how many of them are right."""

    n: int
    confidence: float
    accuracy: float
    interval: Interval
    """95 % interval of the accuracy."""


class Area(NamedTuple):
    """An area under a ROC curve, with its 95 % interval."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class Threshold:
    """Answers beyond it are right, or wrong, at least as often as promised."""

    value: float
    promise: float
    n: int
    """How many of the known answers are beyond it."""
    share: float
    """How many of those were as promised."""


@dataclass(frozen=True)
class Thresholds:
    """When an answer counts as retrieved, and when as made up; None if no promise can be given."""

    retrieved: Threshold | None
    made_up: Threshold | None
    chosen_on: int
    """On how many answers."""
    invented: int = 0
    """How many of them were about invented people, and so made up."""

    def verdict(self, confidence: float) -> Verdict:
        """Judge an answer by its confidence."""
        if self.retrieved and confidence >= self.retrieved.value:
            return "retrieved"
        if self.made_up and confidence <= self.made_up.value:
            return "made up"
        return "unsure"


def roc_area(scores: ArrayLike, positive: ArrayLike) -> Area | None:
    """Return the chance that a positive has the higher score; None if all are of one kind.

    The interval is DeLong's (1988), on the logit scale, so that it stays between 0 and 1; it needs
    two of each kind. Where all pairs are in order it is the exact one for as many hits without a
    miss as there are of the rarer kind.
    """
    from scipy.special import expit, logit
    from scipy.stats import rankdata

    values, is_positive = np.asarray(scores, float), np.asarray(positive, bool)
    high, low = values[is_positive], values[~is_positive]
    if not len(high) or not len(low):
        return None
    ranks = rankdata(values)
    of_high = (ranks[is_positive] - rankdata(high)) / len(low)
    of_low = 1 - (ranks[~is_positive] - rankdata(low)) / len(high)
    area = float(of_high.mean())
    variance = sum(part.var(ddof=1) / len(part) for part in (of_high, of_low) if len(part) > 1)
    rarer = min(len(high), len(low))
    if rarer < 2:
        return Area(area, Interval(0.0, 1.0))
    if not 0 < area < 1:
        bound = 0.025 ** (1 / rarer)
        return Area(area, Interval(bound, 1.0) if area else Interval(0.0, 1 - bound))
    reach = 1.96 * np.sqrt(variance) / (area * (1 - area))
    bounds = expit([logit(area) - reach, logit(area) + reach])
    return Area(area, Interval(*(float(bound) for bound in bounds)))


def risk_coverage(confidence: ArrayLike, right: ArrayLike) -> Curve:
    """Give the surest answers first, and count the wrong among those given so far."""
    _, shares = _surest_first(confidence, right)
    given = np.arange(1, len(shares) + 1)
    return Curve(given / len(shares), 1 - np.cumsum(shares) / given)


def surest_half(confidence: ArrayLike, right: ArrayLike) -> dict[str, Any]:
    """Return the accuracy of the more confident half of the answers."""
    _, shares = _surest_first(confidence, right)
    n = max(1, round(0.5 * len(shares)))
    hits = round(float(shares[:n].sum()))
    return {"share": 0.5, "n": n, "value": hits / n, "interval": list(wilson(hits, n))}


def calibration_error(confidence: ArrayLike, right: ArrayLike) -> float:
    """Return how far confidence and accuracy are apart, over bins with equally many answers."""
    values, shares = _surest_first(confidence, right)
    bins = _bins(len(values))
    gaps = [abs(values[one].mean() - shares[one].mean()) * len(one) for one in bins]
    return float(sum(gaps) / len(values))


def calibration_curve(confidence: ArrayLike, right: ArrayLike) -> list[CalibrationBin]:
    """Return confidence and accuracy of bins with equally many answers, the least sure first."""
    values, shares = _surest_first(confidence, right)
    return [
        CalibrationBin(
            n=len(one),
            confidence=float(values[one].mean()),
            accuracy=float(shares[one].mean()),
            interval=wilson(round(float(shares[one].sum())), len(one)),
        )
        for one in reversed(_bins(len(values)))
    ]


def choose_thresholds(confidence: ArrayLike, right: ArrayLike) -> Thresholds:
    """Choose on known answers what counts as retrieved, and as made up: more often wrong."""
    values, is_right = np.asarray(confidence, float), np.asarray(right, bool)
    promise = PROMISE if len(values) >= MANY else MODEST_PROMISE
    made_up = _threshold(-values, ~is_right, promise=0.5)
    return Thresholds(
        _threshold(values, is_right, promise=promise),
        made_up and Threshold(-made_up.value, made_up.promise, made_up.n, made_up.share),
        len(values),
    )


def _threshold(
    values: Float[np.ndarray, " N"], kept: Bool[np.ndarray, " N"], *, promise: float
) -> Threshold | None:
    """Lower the threshold as long as a test says that the promise is kept.

    From each start thresholds are tested in a fixed order, up to the first that fails: then the
    chance that a broken promise passes is that of one test (Maurer, Hothorn and Lehmacher 1995),
    and the starts share the doubt.
    """
    doubt = DOUBT / len(STARTS)
    smallest = int(np.ceil(np.log(doubt) / np.log(promise)))
    if len(values) < smallest:
        return None
    starts = {max(smallest, round(start * len(values))) for start in STARTS}
    found = [_lowered(values, kept, start, promise=promise, doubt=doubt) for start in starts]
    return max((one for one in found if one), key=lambda one: one.n, default=None)


def _lowered(
    values: Float[np.ndarray, " N"],
    kept: Bool[np.ndarray, " N"],
    start: int,
    *,
    promise: float,
    doubt: float,
) -> Threshold | None:
    """Test the threshold of the surest ``start`` answers, then lower ones until one fails."""
    from scipy.stats import binomtest

    surest_first, found = np.sort(values)[::-1], None
    for n in np.unique(np.linspace(start, len(values), STEPS).round().astype(int)):
        beyond = values >= surest_first[n - 1]  # with those that are exactly as sure
        hits, count = int(kept[beyond].sum()), int(beyond.sum())
        if binomtest(hits, count, promise, alternative="greater").pvalue > doubt:
            break
        found = Threshold(float(surest_first[n - 1]), promise, count, hits / count)
    return found


def _bins(n: int) -> list[NDArray[np.intp]]:
    """Cut the numbers of ``n`` answers into bins with equally many."""
    return np.array_split(np.arange(n), min(BINS, n))


def _surest_first(
    confidence: ArrayLike, right: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the confidences, and how right the answers are.

    Answers that are equally sure have no order: each counts with the mean of them all.
    """
    values, is_right = np.asarray(confidence, float), np.asarray(right, float)
    _, group = np.unique(values, return_inverse=True)
    shares = (np.bincount(group, weights=is_right) / np.bincount(group))[group]
    order = np.argsort(-values, kind="stable")
    return values[order], shares[order]
