"""Bits per character: the loss on a text in bits over its characters, whatever a token is."""

import math
from collections.abc import Sequence

from attnlab.evaluation.intervals import Interval
from attnlab.evaluation.metrics.contract import Answers, Array, Metric, is_count, is_number


def features(tables: Sequence[Answers]) -> Array:
    """Return for each row its summed loss and its number of characters."""
    import numpy as np

    rows = [[(row["loss"], row["characters"]) for row in rows] for rows in tables]
    return np.array(rows, dtype=float)


def finish(sums: Array) -> Array:
    """Turn nats into bits per character."""
    loss, characters = sums[..., 0], sums[..., 1]
    return loss / math.log(2) / characters


BITS_PER_CHARACTER = Metric(
    name="bits_per_character",
    title="bits per character",
    columns={"loss": is_number, "characters": is_count},
    features=features,
    finish=finish,
    bounds=Interval(0.0, math.inf),
    higher_is_better=False,
    in_percent=False,
)
