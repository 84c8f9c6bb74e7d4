"""Tests whether one model is better than another, and how many examples would show it.

Answers to the same questions are compared pair by pair: only the examples on which the two differ
say anything (McNemar 1947). Sizes follow Connor (1987).
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from attnlab.evaluation.bootstrap import Array, Finish

SIGNIFICANT = 0.05
Z_ALPHA, Z_POWER = NormalDist().inv_cdf(1 - SIGNIFICANT / 2), NormalDist().inv_cdf(0.8)


def mcnemar(first: Sequence[bool] | Array, second: Sequence[bool] | Array) -> float:
    """Return the exact two-sided p-value of "both are right equally often"."""
    from scipy.stats import binomtest

    one, two = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    apart = int((one != two).sum())
    return float(binomtest(int((two & ~one).sum()), apart).pvalue) if apart else 1.0


def swap_rows(first: Array, second: Array, finish: Finish) -> float:
    """Return the p-value of "it does not matter which run a row is from", by swapping rows.

    The runs are given by the features of their rows, N × F. Exact if up to a dozen rows differ,
    else by ten thousand random swaps (Fisher 1935).
    """
    from scipy.stats import permutation_test

    change = second - first
    change = change[change.any(axis=1)]  # other rows are swapped without effect
    if len(change) < 2:
        return 1.0
    sums = first.sum(axis=0), second.sum(axis=0)
    scale = max(abs(float(finish(one))) for one in sums) or 1.0

    def gap(signs: Array, axis: int) -> Array:
        assert axis in (-1, signs.ndim - 1)
        moved = (1 - signs) / 2 @ change  # a sign of -1 swaps its row
        apart = finish(sums[1] - moved) - finish(sums[0] + moved)
        return np.asarray(np.round(apart / scale, 12))  # so that ties are ties

    found = permutation_test(
        (np.ones(len(change)),),
        gap,
        permutation_type="samples",
        n_resamples=9999,
        batch=500,
        vectorized=True,
        rng=0,
    )
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of several comparisons (Holm 1979), in their order."""
    values = np.array(p_values)
    order = np.argsort(values, kind="stable")
    weighted = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(weighted), 1.0)
    return [float(value) for value in corrected]


def examples_needed(difference: float, discordant: float) -> int | None:
    """Return how many examples show a difference, if the share ``discordant`` is answered apart.

    They show it at 5 % four times in five; None for no difference, which nothing can show.
    """
    if difference == 0:
        return None
    d, share = abs(difference), max(discordant, abs(difference))
    root = Z_ALPHA * math.sqrt(share) + Z_POWER * math.sqrt(share - d * d)
    return math.ceil((root / d) ** 2)


def smallest_difference(n: int, discordant: float) -> float:
    """Return the smallest difference that n examples can show, where ``discordant`` are apart."""
    low, high = 0.0, 1.0
    for _ in range(60):  # the number needed falls with the difference: halve until it fits
        middle = (low + high) / 2
        needed = examples_needed(middle, discordant)
        low, high = (low, middle) if needed is not None and needed <= n else (middle, high)
    return high
