"""What other examples and other seeds would have given.

A condition is a table of values, a row a seed and a column an example: 1 for a right answer, 0 for
a wrong one, or a loss. Examples are drawn again (Efron 1979) for all conditions alike, which keeps
the pairs together. Seeds are too few to be drawn: their variance is measured and counts with
Student's t, which keeps two or three of them from looking like many.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnlab.evaluation.intervals import Interval

Table = NDArray[np.float64]
"""Seeds × examples."""

RESAMPLES, CHUNK = 10_000, 500
SMALLEST_TAIL = 1e-12


class Estimate(NamedTuple):
    """A mean, or a difference of means, with how far other examples and seeds would move it."""

    value: float
    examples: float
    """Variance over examples."""
    seeds: float
    """Variance over seeds; 0 if there is one seed only."""
    spare_seeds: int
    drawn: NDArray[np.float64]
    """The values over resampled examples."""

    @property
    def standard_error(self) -> float:
        """Both variances together."""
        return math.sqrt(self.examples + self.seeds)

    def reach(self, tail: float) -> float:
        """Return how far the value may be off, but for ``tail`` on each side.

        Each variance counts with its own quantile: Student's for the few seeds, the normal one for
        the many examples.
        """
        from scipy.special import ndtri, stdtrit  # the quantiles, without scipy.stats' overhead

        by_examples = float(ndtri(tail)) ** 2 * self.examples
        by_seeds = float(stdtrit(self.spare_seeds, tail)) ** 2 * self.seeds if self.seeds else 0.0
        return math.sqrt(by_examples + by_seeds)

    def interval(self) -> Interval:
        """Return the 95 % interval: percentiles for one seed, both quantiles for several."""
        if not self.seeds:
            low, high = np.quantile(self.drawn, [0.025, 0.975])
            return Interval(float(low), float(high))
        reach = self.reach(0.025)
        return Interval(self.value - reach, self.value + reach)

    def p_value(self) -> float:
        """Return the two-sided p-value of "the value is zero": where the reach just ends there."""
        low, high = SMALLEST_TAIL, 0.5
        if self.reach(low) <= abs(self.value):
            return 2 * low if self.value else 1.0
        for _ in range(60):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.reach(middle) > abs(self.value) else (low, middle)
        return 2 * high


class Bootstrap:
    """Means of several conditions over the same resampled examples."""

    def __init__(
        self,
        conditions: Sequence[Table],
        *,
        weights: NDArray[np.float64] | None = None,
        seed: int = 0,
    ) -> None:
        """Draw the examples; with ``weights`` a mean is one a token, say, not one an example."""
        n = conditions[0].shape[1]
        weights = np.ones(n) if weights is None else weights
        generator = np.random.default_rng(seed)
        averaged = np.stack([values.mean(axis=0) for values in conditions])
        drawn_means = []
        for _ in range(RESAMPLES // CHUNK):
            drawn = generator.multinomial(n, np.full(n, 1 / n), size=CHUNK).astype(float)
            drawn_means.append((drawn @ averaged.T) / (drawn @ weights)[:, None])
        self._drawn = np.concatenate(drawn_means)
        self._observed = [values.sum(axis=1) / weights.sum() for values in conditions]

    def mean(self, condition: int) -> Estimate:
        """Estimate the mean of one condition."""
        observed, drawn = self._observed[condition], self._drawn[:, condition]
        k = len(observed)
        variance = float(observed.var(ddof=1)) / k if k > 1 else 0.0
        return Estimate(float(observed.mean()), float(drawn.var()), variance, k - 1, drawn)

    def difference(self, first: int, second: int) -> Estimate:
        """Estimate the difference, second minus first.

        A condition with one seed borrows the seed variance of the other: its luck is unknown, not
        absent.
        """
        one, two = self._observed[first], self._observed[second]
        spread = [float(values.var(ddof=1)) for values in (one, two) if len(values) > 1]
        borrowed = max(spread, default=0.0)
        variance = sum(
            (float(values.var(ddof=1)) if len(values) > 1 else borrowed) / len(values)
            for values in (one, two)
        )
        drawn = self._drawn[:, second] - self._drawn[:, first]
        spare = len(one) + len(two) - 2
        value = float(two.mean() - one.mean())
        value = 0.0 if abs(value) < 1e-12 else value  # the residue of adding in another order
        return Estimate(value, float(drawn.var()), variance, spare, drawn)
