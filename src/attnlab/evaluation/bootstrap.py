"""Bootstrap: what other examples and other seeds would have given.

A condition is the tables of predictions of one or more seeds. Rows are drawn again (Efron 1979),
the same ones for all conditions, which keeps the pairs together, and the metric is computed from
those drawn. Seeds are too few to be drawn: their variance is measured and counts with Student's t,
which keeps two or three of them from looking like many.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnlab.evaluation.intervals import Interval

Array = NDArray[np.float64]
Finish = Callable[[Array], Array]
"""From sums of features to scores, see ``metrics/contract.py``."""

RESAMPLES, CHUNK = 10_000, 500
SMALLEST_TAIL = 1e-12


class Estimate(NamedTuple):
    """A score, or a difference of scores, and how far other examples and seeds would move it."""

    value: float
    examples: float
    """Variance over examples."""
    seeds: float
    """Variance over seeds; 0 if there is one seed only."""
    spare_seeds: int
    drawn: Array
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
    """Scores of several conditions over the same resampled rows."""

    def __init__(self, conditions: Sequence[Array], finish: Finish, *, seed: int = 0) -> None:
        """Draw the rows; a condition is the features of its runs: seeds × rows × features."""
        runs = np.concatenate(conditions)
        drawn = np.concatenate([finish(sums) for sums in resampled_sums(runs, seed=seed)])
        ends = np.cumsum([len(condition) for condition in conditions])[:-1]
        self._observed = np.split(finish(runs.sum(axis=1)), ends)
        self._drawn = [scores.mean(axis=1) for scores in np.split(drawn, ends, axis=1)]

    @classmethod
    def of_means(cls, conditions: Sequence[Array], *, seed: int = 0) -> "Bootstrap":
        """Draw the rows of plain means; a condition has one value per row: seeds × rows."""
        counted = [np.stack([values, np.ones_like(values)], axis=-1) for values in conditions]
        return cls(counted, lambda sums: sums[..., 0] / sums[..., 1], seed=seed)

    def score(self, condition: int) -> Estimate:
        """Estimate the score of one condition, the mean over its seeds."""
        observed, drawn = self._observed[condition], self._drawn[condition]
        k = len(observed)
        variance = float(observed.var(ddof=1)) / k if k > 1 else 0.0
        return Estimate(float(observed.mean()), float(drawn.var()), variance, k - 1, drawn)

    def difference(self, first: int, second: int) -> Estimate:
        """Estimate the difference of two scores, second minus first.

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
        drawn = self._drawn[second] - self._drawn[first]
        spare = len(one) + len(two) - 2
        before, after = float(one.mean()), float(two.mean())
        # adding in another order leaves a residue, which is no difference
        value = 0.0 if math.isclose(before, after, rel_tol=1e-12) else after - before
        return Estimate(value, float(drawn.var()), variance, spare, drawn)


def resampled_sums(runs: Array, *, seed: int) -> Iterator[Array]:
    """Draw as many rows as there are, the same for all runs, and sum their features.

    Yields chunks of shape (resamples, runs, features).
    """
    n = runs.shape[1]
    columns = runs.transpose(1, 0, 2).reshape(n, -1)  # (N, R·F)
    generator = np.random.default_rng(seed)
    for _ in range(RESAMPLES // CHUNK):
        counts = generator.multinomial(n, np.full(n, 1 / n), size=CHUNK).astype(float)
        yield (counts @ columns).reshape(CHUNK, len(runs), -1)
