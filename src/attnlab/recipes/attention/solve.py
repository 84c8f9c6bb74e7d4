"""Reads the keys, values and matrices of a question from files, and has it explained."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from attnlab.data.matrices import read_matrix, read_square_matrix
from attnlab.errors import UserError
from attnlab.geometry.examples import ARGMAX_QUERY, BASIS_A, BASIS_B, example
from attnlab.geometry.explain.answer import Request
from attnlab.geometry.explain.argmax import explain_argmax
from attnlab.geometry.explain.heads import explain_heads
from attnlab.geometry.explain.kqv import explain_kqv
from attnlab.geometry.explain.subspaces import explain_subspaces
from attnlab.geometry.explanation import Explanation
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance, make_instance
from attnlab.geometry.kqv import Matrices, construction
from attnlab.geometry.noise import noisy_heads


def load(
    name: str | None, keys: Path | None, values: Path | None, *, default: str = "cse517"
) -> Instance:
    """Take a named example, or keys and values from files; without values, the weights count."""
    if keys is None:
        if values is not None:
            raise UserError("--values needs --keys: each value belongs to a key.")
        return example(name or default)
    if name is not None:
        raise UserError("give --example or --keys, not both.")
    names = str(keys) if values is None else f"{keys} and {values}"
    made = None if values is None else read_matrix(values)
    return make_instance(read_matrix(keys), made, name=names)


def make_request(
    answer: str | None, *, error: float, tolerance: float, solution: bool = False
) -> Request:
    """Check what is required of a query and of an answer."""
    _check_tolerance(tolerance)
    if not 0 < error < 1:
        raise UserError(f"--error {error:g} is not possible: between 0 and 1, both excluded.")
    return Request(error, answer, tolerance, solution)


def _check_tolerance(tolerance: float) -> None:
    if not 0 < tolerance < math.inf:  # refuses NaN too
        raise UserError(f"--tolerance {tolerance:g} is not possible: above 0 and finite, as 0.05.")


def argmax(instance: Instance, query: str | None, *, is_default: bool) -> Explanation:
    """The value of the most similar key; the default keys have a default query."""
    if query is None and not is_default:
        raise UserError("give --query: numbers as -2,1,1 or an expression as 10*(k0+k1).")
    width, names = instance.keys.shape[1], names_of(instance)
    text = query or ",".join(f"{number:g}" for number in ARGMAX_QUERY)
    return explain_argmax(instance, vector_of(text, names, width=width, what="query"))


def heads(
    *, n_tokens: int, beta: float, alpha: float, length_variance: float, draws: int, seed: int
) -> Explanation:
    """Noisy keys for one head and for two: all alike, and one that also varies in length."""
    draw = partial(noisy_heads, n_tokens=n_tokens, beta=beta, alpha=alpha, draws=draws, seed=seed)
    return explain_heads(draw(length_variance=length_variance), draw(length_variance=0.0))


def kqv(beta: float, files: Sequence[Path | None], *, tolerance: float) -> Explanation:
    """Self-attention without matrices, then with K, Q and V: the construction's or from files."""
    _check_tolerance(tolerance)
    if not any(files):
        return explain_kqv(beta, tolerance=tolerance)
    made = construction()
    built_in = (made.key, made.query, made.value)
    own = [
        matrix if path is None else read_square_matrix(path, len(matrix))
        for path, matrix in zip(files, built_in, strict=True)
    ]
    return explain_kqv(beta, Matrices(*own), tolerance=tolerance)


def subspaces(
    first: Path | None, second: Path | None, *, proposed: Path | None, tolerance: float
) -> Explanation:
    """The matrices that take one vector out of a sum and out of a mean."""
    _check_tolerance(tolerance)
    if (first is None) != (second is None):
        raise UserError("give both --first and --second, or neither.")
    a, b = np.array(BASIS_A), np.array(BASIS_B)
    if first is not None and second is not None:
        a, b = read_matrix(first), read_matrix(second)
    if a.shape[1] != b.shape[1]:
        raise UserError(
            f"{first} has vectors of {a.shape[1]} numbers, {second} of {b.shape[1]}:"
            " both must have the same."
        )
    matrix = None if proposed is None else read_square_matrix(proposed, a.shape[1])
    return explain_subspaces(a, b, proposed=matrix, tolerance=tolerance)
