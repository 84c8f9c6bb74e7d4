"""What other examples and other seeds would have given: the bootstrap (Efron 1979).

A condition is a table of values, a row a seed and a column an example: 1 for a right answer, 0 for
a wrong one, or a loss. Examples are drawn again for all conditions alike, which keeps the pairs
together; seeds are drawn again for each condition by itself.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnlab.evaluation.intervals import Interval

Table = NDArray[np.float64]
"""Seeds × examples."""

RESAMPLES, CHUNK = 10_000, 500


class Bootstrap:
    """Resampled means of several conditions over the same examples."""

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
        self._generator = np.random.default_rng(seed)
        stacked = np.concatenate(conditions)
        by_seed = []
        for _ in range(RESAMPLES // CHUNK):
            drawn = self._generator.multinomial(n, np.full(n, 1 / n), size=CHUNK).astype(float)
            by_seed.append((drawn @ stacked.T) / (drawn @ weights)[:, None])
        cuts = np.cumsum([len(values) for values in conditions])[:-1]
        self._by_seed = np.split(np.concatenate(by_seed), cuts, axis=1)
        self._observed = [values.sum(axis=1) / weights.sum() for values in conditions]

    def means(self, condition: int) -> NDArray[np.float64]:
        """Return the resampled means of one condition."""
        return self._draw(condition, spare_seeds=len(self._observed[condition]) - 1)

    def differences(self, first: int, second: int) -> NDArray[np.float64]:
        """Return the resampled differences, second minus first."""
        spare = sum(len(self._observed[i]) - 1 for i in (first, second))
        return self._draw(second, spare_seeds=spare) - self._draw(first, spare_seeds=spare)

    def _draw(self, condition: int, *, spare_seeds: int) -> NDArray[np.float64]:
        """Draw seeds, their deviations stretched so that few seeds do not look like many.

        Drawing k seeds from k shrinks their spread by √((k − 1)/k), and normal tails are too thin
        for so few: Student's t, with as many degrees of freedom as there are spare seeds, is the
        measure. Two conditions that are compared lend each other theirs.
        """
        observed, by_seed = self._observed[condition], self._by_seed[condition]
        k = len(observed)
        if k == 1:
            return by_seed[:, 0]
        from scipy.stats import norm, t

        factor = np.sqrt(k / (k - 1)) * t.ppf(0.975, spare_seeds) / norm.ppf(0.975)
        stretched = by_seed + (factor - 1) * (observed - observed.mean())
        drawn = self._generator.multinomial(k, np.full(k, 1 / k), size=len(by_seed)) / k
        means: NDArray[np.float64] = (stretched * drawn).sum(axis=1)
        return means


def percentile_interval(samples: NDArray[np.float64], *, confidence: float = 0.95) -> Interval:
    """Return the middle ``confidence`` share of the samples."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1 - tail])
    return Interval(float(low), float(high))


def two_sided_p(differences: NDArray[np.float64]) -> float:
    """Return how often a resampled difference falls on the other side of zero, doubled."""
    beyond = min((differences <= 0).sum(), (differences >= 0).sum())
    return float(min(1.0, 2 * (beyond + 1) / (len(differences) + 1)))
