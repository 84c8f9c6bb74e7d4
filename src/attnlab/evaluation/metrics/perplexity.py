"""Perplexity: exp of the mean loss per token, the number of tokens a model hesitates between."""

import math
from collections.abc import Sequence

from attnlab.evaluation.intervals import Interval
from attnlab.evaluation.metrics.contract import Answers, Array, Metric, is_number, is_positive

LARGEST_LOSS = 700.0
"""In nats per token; exp of more is not a float."""


def features(tables: Sequence[Answers]) -> Array:
    """Return for each row its summed loss and its number of tokens."""
    import numpy as np

    rows = [[(row["loss"], row["tokens"]) for row in rows] for rows in tables]
    return np.array(rows, dtype=float)


def finish(sums: Array) -> Array:
    """Turn nats per token into perplexity."""
    import numpy as np

    loss, tokens = sums[..., 0], sums[..., 1]
    return np.exp(np.clip(loss / tokens, 0.0, LARGEST_LOSS))


PERPLEXITY = Metric(
    name="perplexity",
    title="perplexity",
    columns={"loss": is_number, "tokens": is_positive},
    features=features,
    finish=finish,
    bounds=Interval(1.0, math.inf),
    higher_is_better=False,
    in_percent=False,
)
