"""Argmax attention (*boolq*): all weight on the most similar key, the limit of sharp softmax.

The output is piecewise constant in the query: it does not change within a ball whose radius is
computed here. So the gradient with respect to queries and keys is zero wherever it exists, while
the values, and what makes them, still get theirs.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnlab.geometry.instance import Instance
from attnlab.geometry.shapes import Keys, Output, Vector

TIE = 1e-12
"""Scores that differ by less than this share of their size are tied."""


@dataclass(frozen=True, eq=False)
class HardAttention:
    """What argmax attention gives for one query."""

    scores: Float[np.ndarray, "S"]
    winners: tuple[int, ...]
    """The tokens with the highest score; more than one is a tie."""
    output: Output
    """The winner's value; after a tie their mean, which is what softmax(β·scores) tends to."""
    radius: float
    """How far the query may move, in any direction, before the winners change; 0 after a tie."""

    @property
    def is_tie(self) -> bool:
        """Whether several keys are most similar, so that the output is a matter of convention."""
        return len(self.winners) > 1


def argmax_attention(instance: Instance, query: Vector) -> HardAttention:
    """Return the value of the key that is most similar to the query."""
    scores = instance.keys @ query
    slack = TIE * float((np.abs(instance.keys) @ np.abs(query)).max())
    winners = np.flatnonzero(scores >= scores.max() - slack)
    output = instance.values[winners].mean(axis=0)
    return HardAttention(
        scores, tuple(int(i) for i in winners), output, _radius(instance.keys, scores, winners)
    )


def _radius(keys: Keys, scores: Float[np.ndarray, "S"], winners: np.ndarray) -> float:
    """Find the nearest query at which another key catches up with the winner."""
    best = int(winners[0])
    distances = np.linalg.norm(keys - keys[best], axis=1)
    apart = distances > 0  # an equal key is tied everywhere: moving the query never decides
    if (apart[winners]).any():
        return 0.0
    radii = (scores[best] - scores[apart]) / distances[apart]
    return float(radii.min(initial=math.inf))
