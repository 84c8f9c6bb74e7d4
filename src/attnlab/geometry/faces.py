"""Which keys a direction can rank first: exposed faces of the keys' convex hull.

A set F of keys is an exposed face if some direction u gives its keys one score and every other key
a smaller one. Either there is such a u, or a mean of other keys lies in the affine hull of F
(Gordan's alternative). One non-negative least-squares problem finds the u with the largest margin
or that mean (Lawson and Hanson 1974, chapter 23); it is exact to more digits than a linear
programme.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from attnlab.geometry.shapes import Keys, Tokens, Vector

TOLERANCE = 1e-9
"""A margin below this share of the points' size counts as none."""
ROUNDING = 1e-13
"""A share of a mean that is smaller than this is left over from rounding."""


@dataclass(frozen=True, eq=False)
class Separation:
    """A direction with all points above zero, or else a mean of the points that is zero."""

    direction: Vector
    """Of unit length, with the largest margin; all zero if there is none."""
    margin: float
    """The least score of a point along it; 0 if no direction has all points above zero."""
    combination: Float[np.ndarray, "N"]
    """Shares that sum to 1; without a margin, the mean of the points by them is zero."""

    @property
    def exists(self) -> bool:
        """Whether there is a direction."""
        return self.margin > 0


def separate(points: Float[np.ndarray, "N D"], *, size: float) -> Separation:
    """Look for a direction along which every point is above zero; ``size`` says what is small."""
    if size == 0:
        return Separation(np.zeros(points.shape[1]), 0.0, np.full(len(points), 1 / len(points)))
    scaled = points / size
    shares = _nnls(np.vstack([scaled.T, np.ones(len(points))]), np.eye(points.shape[1] + 1)[-1])
    shares = np.where(shares > ROUNDING * shares.max(), shares, 0.0)
    shares = shares / shares.sum()
    nearest = shares @ scaled  # the point of the hull that is nearest to zero
    length = float(np.linalg.norm(nearest))
    margin = float((scaled @ nearest).min()) / length if length > TOLERANCE else 0.0
    if margin <= TOLERANCE:
        return Separation(np.zeros(points.shape[1]), 0.0, shares)
    return Separation(nearest / length, margin * size, shares)


def expose(keys: Keys, face: Tokens) -> Separation:
    """Look for a direction that scores the keys of ``face`` alike and all others lower.

    The combination is one of the other keys; without a margin it lies in the face's affine hull.
    """
    centre = keys[face].mean(axis=0)
    across = orthogonal_to_face(keys, face)
    found = separate((centre - keys[~face]) @ across.T, size=spread(keys))
    return Separation(found.direction @ across, found.margin, found.combination)


def orthogonal_to_face(keys: Keys, face: Tokens) -> Float[np.ndarray, "R D"]:
    """Give an orthonormal basis of the directions along which the keys of a face do not differ."""
    centred = keys[face] - keys[face].mean(axis=0)
    _, singular, basis = np.linalg.svd(centred, full_matrices=True)
    return basis[int((singular > cutoff(keys)).sum()) :]


def spread(keys: Keys) -> float:
    """The largest distance of a key from their mean; 0 if they are equal but for rounding."""
    furthest = float(np.linalg.norm(keys - keys.mean(axis=0), axis=1).max())
    return furthest if furthest > rounding(keys) else 0.0


def cutoff(keys: Keys) -> float:
    """The distance below which keys count as equal: far from zero, rounding makes it larger."""
    return max(TOLERANCE * spread(keys), rounding(keys))


def rounding(keys: Keys) -> float:
    """How far differences of keys may be off because their last digits are rounded."""
    return 64 * float(np.finfo(float).eps) * float(np.abs(keys).max())


def smallest_solution(
    system: Float[np.ndarray, "M N"], wanted: Float[np.ndarray, "M"], *, cutoff: float
) -> Float[np.ndarray, "N"]:
    """Solve least squares with the shortest vector; singular values up to ``cutoff`` are zero."""
    left, singular, right = np.linalg.svd(system, full_matrices=False)
    kept = singular > cutoff
    solution: np.ndarray = ((wanted @ left[:, kept]) / singular[kept]) @ right[kept]
    return solution


def smallest_face_at_zero(points: Float[np.ndarray, "N D"]) -> tuple[Bool[np.ndarray, "N"], Vector]:
    """Give the points of the smallest face of their hull that holds zero, and a direction.

    Along the direction these points score zero and all others more: a mean of the points that is
    zero gives the others no share. Zero must lie in the hull.
    """
    size = max(float(np.linalg.norm(points, axis=1).max()), np.finfo(float).tiny)
    scaled = points / size
    inside, direction = np.ones(len(points), dtype=bool), np.zeros(points.shape[1])
    for i, point in enumerate(scaled):
        rest = scaled.T @ _nnls(scaled.T, -point) + point
        length = float(np.linalg.norm(rest))
        if length > TOLERANCE:
            inside[i] = False
            direction += rest / length
    return inside, direction


def _nnls(system: Float[np.ndarray, "M N"], wanted: Float[np.ndarray, "M"]) -> np.ndarray:
    solution: np.ndarray = nnls(system, wanted, maxiter=100 * max(system.shape))[0]
    return solution
