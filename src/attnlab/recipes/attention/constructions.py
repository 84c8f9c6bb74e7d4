"""Runs the assignments' constructions: noisy keys, K Q V, subspaces, sharpness, argmax."""

from pathlib import Path

import numpy as np

from attnlab.data.matrices import read_matrix, read_square_matrix
from attnlab.errors import UserError
from attnlab.geometry.argmax import HardAndSoft, hard_and_soft
from attnlab.geometry.examples import ARGMAX_QUERY, BASIS_A, BASIS_B
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance
from attnlab.geometry.kqv import (
    KqvExplained,
    Matrices,
    check_matrices,
    construction,
    without_matrices,
)
from attnlab.geometry.subspaces import Extracted, extracted, extraction_error

QUERY = ",".join(f"{number:g}" for number in ARGMAX_QUERY)
"""The assignment's, for the example of that name."""


def argmax(instance: Instance, query: str | None, *, is_default: bool) -> HardAndSoft:
    """Return the value of the most similar key, beside what softmax gives."""
    if query is None and not is_default:
        raise UserError("give --query: numbers as -2,1,1 or an expression as 10*(k0+k1).")
    width = instance.keys.shape[1]
    found = vector_of(query or QUERY, names_of(instance), width=width, what="query")
    return hard_and_soft(instance, found)


def kqv(
    beta: float,
    *,
    key: Path | None,
    query: Path | None,
    value: Path | None,
    tolerance: float,
) -> KqvExplained:
    """Try self-attention without matrices, then with the construction or one's own."""
    made = construction(1.0)
    width = len(made.key)
    matrices = Matrices(
        made.key if key is None else read_square_matrix(key, width),
        made.query if query is None else read_square_matrix(query, width),
        made.value if value is None else read_square_matrix(value, width),
    )
    checked = check_matrices(beta, matrices, tolerance=tolerance)
    return KqvExplained(without_matrices(beta), checked, key is query is value is None)


def subspaces(first: Path | None, second: Path | None) -> Extracted:
    """Find the matrices that take one vector out of a sum and out of a mean."""
    if (first is None) != (second is None):
        raise UserError("give both --first and --second, or neither.")
    if first is None or second is None:
        return extracted(np.array(BASIS_A), np.array(BASIS_B))
    a, b = read_matrix(first), read_matrix(second)
    if a.shape[1] != b.shape[1]:
        raise UserError(
            f"{first} has vectors of {a.shape[1]} numbers, {second} of {b.shape[1]}:"
            " both must have the same."
        )
    return extracted(a, b)


def proposed_error(matrix: Path, found: Extracted) -> float:
    """Say how far a proposed M can miss v_a, for vectors of unit length."""
    proposed = read_square_matrix(matrix, found.first.shape[1])
    return extraction_error(proposed, found.first, second=found.second)
