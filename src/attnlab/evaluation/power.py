"""What an experiment can show, before it is run: the smallest difference, from n and seeds alone.

The same reckoning as afterwards (``evaluation/bootstrap.py``): examples and seeds each have a
variance, with normal and Student's quantiles. What is unknown beforehand is assumed, and said.
"""

import math

from attnlab.evaluation.significance import SIGNIFICANT

APART, SPREAD = 0.2, 0.01
"""Assumed: the share of examples that two models answer differently; the standard deviation of a
score over seeds."""
POWER = 0.8


def detectable(n: int, *, seeds: int = 1, comparisons: int = 1) -> float:
    """Return the difference in accuracy that is found four times in five, if it is there.

    ``comparisons`` are corrected for. With one seed per condition the luck of the seed cannot be
    seen, and does not count; a second seed makes the answer more honest before it is sharper.
    """
    from scipy.special import ndtri, stdtrit

    tail = SIGNIFICANT / 2 / comparisons
    by_examples = (-float(ndtri(tail)) + float(ndtri(POWER))) * math.sqrt(APART / n)
    if seeds == 1:
        return by_examples
    spare = 2 * (seeds - 1)
    quantiles = -float(stdtrit(spare, tail)) + float(stdtrit(spare, POWER))
    return math.hypot(by_examples, quantiles * SPREAD * math.sqrt(2 / seeds))
