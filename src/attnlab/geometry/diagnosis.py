"""Why a proposed query is off, and the smallest fix.

To share weight equally among some keys, a query must score them alike: what it has along their
differences must go. To leave the others out, it must score those clearly lower.
"""

from dataclasses import dataclass

import numpy as np

from attnlab.geometry.faces import orthogonal_to_face
from attnlab.geometry.instance import Instance, output_error, weights_of
from attnlab.geometry.shapes import Keys, Vector, Weights


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Where the error of a query comes from."""

    unequal: float
    """The largest difference of scores among the wanted keys, beyond what the target asks for."""
    lead: float
    """How far the lowest wanted key scores above the highest other; infinite without others."""
    mass_outside: float
    """The weight on keys that should have none."""
    mended: Vector
    """The query without what it has along the differences of the wanted keys."""
    mended_error: float


def diagnose(instance: Instance, query: Vector, *, target: Weights) -> Diagnosis:
    """Split the error of a query for the mean of some tokens into its two causes."""
    wanted = target > 0
    scores = instance.keys @ query
    weights = weights_of(instance.keys, query)
    mended = straighten(instance.keys, query, target=target)
    excess = scores[wanted] - np.log(target[wanted])
    return Diagnosis(
        float(np.ptp(excess)),
        float(scores[wanted].min() - scores[~wanted].max(initial=-np.inf)),
        float(weights[~wanted].sum()),
        mended,
        output_error(instance, mended, target=target),
    )


def straighten(keys: Keys, query: Vector, *, target: Weights) -> Vector:
    """Remove from a query what it has along the differences of the wanted keys."""
    across = orthogonal_to_face(keys, target > 0)
    straight: np.ndarray = (query @ across.T) @ across
    return straight
