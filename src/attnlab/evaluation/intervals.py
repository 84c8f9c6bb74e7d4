"""Confidence intervals of an accuracy."""

from typing import NamedTuple


class Interval(NamedTuple):
    """Lower and upper bound."""

    low: float
    high: float


def wilson(hits: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of ``hits`` out of ``n`` (Wilson 1927), good for small n too."""
    from scipy.stats import binomtest  # a second to load: only when a number is to be judged

    found = binomtest(hits, n).proportion_ci(confidence, method="wilson")
    return Interval(float(found.low), float(found.high))


def percent(share: float, digits: int = 0) -> str:
    """Write a share as the reports do: 0.758 is 75.8 % with one digit."""
    return f"{100 * share:.{digits}f} %"
