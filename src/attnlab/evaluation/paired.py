"""Is one model better than another on the same examples, and how many would show it?

Answers to the same questions are compared pair by pair: only the examples on which the two differ
say anything (McNemar 1947). Sizes follow Connor (1987).
"""

import math
from collections.abc import Sequence

import numpy as np

from attnlab.evaluation.resampling import Array, Finish


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the exact two-sided p-value of "both are right equally often"."""
    from scipy.stats import binomtest

    pairs = list(zip(first, second, strict=True))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    if only_first + only_second == 0:
        return 1.0
    return float(binomtest(only_second, only_first + only_second).pvalue)


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
    m = len(p_values)
    corrected, highest = [0.0] * m, 0.0
    for rank, index in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (m - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def examples_needed(
    difference: float, discordant: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return how many examples show a difference, if ``discordant`` of them are answered apart.

    None if the difference is zero, which no number of examples shows.
    """
    if difference == 0:
        return None
    d, share = abs(difference), max(discordant, abs(difference))
    z_alpha, z_beta = _quantiles(alpha, power)
    root = z_alpha * math.sqrt(share) + z_beta * math.sqrt(share - d * d)
    return math.ceil((root / d) ** 2)


def smallest_difference(
    n: int, discordant: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest difference that n examples can show, where ``discordant`` are apart."""
    low, high = 0.0, 1.0
    for _ in range(60):  # the number needed falls with the difference: halve until it fits
        middle = (low + high) / 2
        needed = examples_needed(middle, discordant, alpha=alpha, power=power)
        low, high = (low, middle) if needed is not None and needed <= n else (middle, high)
    return high


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    from statistics import NormalDist

    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)
