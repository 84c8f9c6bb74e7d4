"""Recovering one vector from a sum or mean of two that lie in different subspaces.

*knowledge* and *boolq* ask it for orthogonal subspaces with orthonormal bases, rows here: M = A Aᵀ
takes v_a out of v_a + v_b, and 2 A Aᵀ out of their mean. It works for any two subspaces that meet
in zero alone; if they share a vector x, then x and −x have the sum of 0 and 0, and no M exists.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnlab.errors import UserError
from attnlab.geometry.faces import TOLERANCE
from attnlab.geometry.shapes import Vector


@dataclass(frozen=True, eq=False)
class Extraction:
    """A matrix M with M · share · (v_a + v_b) = v_a, or a vector that both subspaces hold."""

    matrix: Float[np.ndarray, "D D"] | None
    shared: Vector | None
    error: float
    """The largest error over vectors of unit length; infinite without a matrix."""


def extraction(
    first: Float[np.ndarray, "M D"], second: Float[np.ndarray, "P D"], *, share: float = 1.0
) -> Extraction:
    """Find M that takes v_a out of share · (v_a + v_b); share is 1 for a sum, ½ for a mean."""
    if share == 0:
        raise UserError("a share of 0 leaves nothing to extract: 1 for a sum, 0.5 for a mean.")
    a, b = _orthonormal(first), _orthonormal(second)
    both = np.concatenate([a, b])
    left, singular, _ = np.linalg.svd(both, full_matrices=True)
    if len(both) > both.shape[1] or singular.min() <= TOLERANCE:
        shared = left[: len(a), -1] @ a  # what the two bases cancel: Σ x_i a_i = −Σ y_j b_j
        return Extraction(None, shared / np.linalg.norm(shared), np.inf)
    matrix = a.T @ np.linalg.pinv(both.T)[: len(a)] / share
    return Extraction(matrix, None, extraction_error(matrix, a, second=b, share=share))


def extraction_error(
    matrix: Float[np.ndarray, "D D"],
    first: Float[np.ndarray, "M D"],
    *,
    second: Float[np.ndarray, "P D"],
    share: float = 1.0,
) -> float:
    """Say how far M · share · (v_a + v_b) can be from v_a, for v_a and v_b of unit length each."""
    a, b = _orthonormal(first), _orthonormal(second)
    kept = np.linalg.norm(share * matrix @ a.T - a.T, 2)
    leaked = np.linalg.norm(share * matrix @ b.T, 2)
    return float(kept + leaked)


def _orthonormal(rows: Float[np.ndarray, "M D"]) -> Float[np.ndarray, "R D"]:
    _, singular, basis = np.linalg.svd(rows, full_matrices=False)
    rank = int((singular > TOLERANCE * singular.max()).sum())
    if rank == 0:
        raise UserError("a basis of zero vectors spans nothing: give at least one that is not 0.")
    return basis[:rank]
