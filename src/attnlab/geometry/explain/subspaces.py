"""Which matrix takes one vector back out of a sum, or of a mean, of two?"""

import numpy as np
from jaxtyping import Float

from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.faces import TOLERANCE
from attnlab.geometry.subspaces import Extraction, extraction, extraction_error
from attnlab.geometry.words import TINY, number, vector

Basis = Float[np.ndarray, "M D"]


def explain_subspaces(
    first: Basis,
    second: Float[np.ndarray, "P D"],
    *,
    proposed: Float[np.ndarray, "D D"] | None = None,
    tolerance: float = 0.05,
) -> Explanation:
    """Find M for v_a in the first subspace and v_b in the second, and try a proposed one."""
    both = np.concatenate([first, second])
    is_projection = bool(np.abs(both @ both.T - np.eye(len(both))).max() <= TOLERANCE)
    of_sum, of_mean = extraction(first, second), extraction(first, second, share=0.5)
    how = (
        "Both bases together are orthonormal, so M = A Aᵀ: it keeps what lies in A and drops B."
        if is_projection
        else "The bases are not orthonormal together, so A Aᵀ will not do; this M projects along B."
    )
    twice = "2 A Aᵀ" if is_projection else "twice that"
    return Explanation(
        "v_a back out of v_a + v_b",
        "possible" if of_sum.shared is None else "impossible",
        parts=[
            how,
            _matrix("M for the sum v_a + v_b", of_sum),
            _matrix(f"M for the mean ½(v_a + v_b): {twice}", of_mean),
        ]
        if of_sum.shared is None
        else [
            f"Both subspaces hold x = {vector(of_sum.shared)}. With v_a = x, v_b = -x the sum is 0,"
            " and so it is with v_a = v_b = 0: no matrix can tell the two apart."
        ],
        data={
            "first": first,
            "second": second,
            "is_projection": is_projection,
            "of_sum": of_sum,
            "of_mean": of_mean,
        },
        answer=None
        if proposed is None
        else _answer(extraction_error(proposed, first, second=second), tolerance),
    )


def _matrix(title: str, found: Extraction) -> Explanation:
    assert found.matrix is not None
    clean = np.where(np.abs(found.matrix) < TINY, 0.0, found.matrix)
    error = f"The largest error for vectors of unit length is {number(found.error, 2)}."
    return Explanation(title, parts=[Table((), clean.tolist()), error])


def _answer(error: float, tolerance: float) -> Explanation:
    return Explanation(
        "Your M",
        "right" if error <= tolerance else "wrong",
        f"error up to {error:.3g}, allowed {tolerance:g}",
        data={"error": error, "tolerance": tolerance},
        is_users=True,
    )
