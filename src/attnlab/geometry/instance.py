"""Keys and values, and attention over them: softmax(K q) and its mean of the values.

There is no mask, no 1/√d and no projection here: a row of keys and a row of values make a token.
Shape letters: S tokens (one key and one value each), D width of a key, E width of a value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from attnlab.errors import UserError
from attnlab.geometry.shapes import Keys, Output, Values, Vector, Weights

LARGEST, SMALLEST = 1e100, 1e-100
"""Beyond them, products of coordinates overflow, or become 0; what is smaller is read as 0."""
REAL = "biuf"
"""What numpy calls the kinds of numbers that a float holds; of complex ones it would drop half."""


@dataclass(frozen=True, eq=False)
class Instance:
    """The keys and values that a query meets."""

    keys: Keys
    values: Values
    name: str = ""
    """Where they come from: an example's name, or files."""

    @property
    def n_tokens(self) -> int:
        """The number of keys, which is that of values."""
        return len(self.keys)


def make_instance(keys: Any, values: Any | None = None, *, name: str = "") -> Instance:
    """Check keys and values from outside; without values the output is the weights themselves."""
    k = matrix(keys, "keys")
    v = np.eye(len(k)) if values is None else matrix(values, "values")
    if len(k) != len(v):
        raise UserError(
            f"there are {len(k)} keys and {len(v)} values: each key needs one value."
            " Give both the same number of rows."
        )
    return Instance(k, v, name)


def shows_weights(instance: Instance) -> bool:
    """Whether the values are such that the output is the weights, as it is without values."""
    return np.array_equal(instance.values, np.eye(instance.n_tokens))


def matrix(rows: Any, name: str) -> Keys:
    """Read a table of numbers: at least one row, all rows equally long."""
    lengths = [len(row) for row in rows] if _has_rows(rows) else []
    if not lengths or not lengths[0]:
        raise UserError(
            f"{name} is no table of numbers. Give one row a token, e.g. [[0.5, 1], [2, 0]]."
        )
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise UserError(
                f"{name}: row {i} has {length} numbers, row 0 has {lengths[0]};"
                " all rows must be equally long."
            )
    return _numbers(rows, name, ndim=2)


def vector(numbers: Any, name: str, *, length: int) -> Vector:
    """Read a list of ``length`` numbers."""
    if not hasattr(numbers, "__len__") or len(numbers) != length:
        raise UserError(f"{name} = {numbers!r} must be a list of {length} numbers.")
    return _numbers(numbers, name, ndim=1)


def _has_rows(rows: Any) -> bool:
    return hasattr(rows, "__len__") and all(
        hasattr(row, "__len__") and not isinstance(row, str) for row in rows
    )


def _numbers(source: Any, name: str, *, ndim: int) -> Float[np.ndarray, "..."]:
    if isinstance(source, np.ndarray) and source.dtype.kind not in REAL:
        raise UserError(f"{name} holds values of type {source.dtype}: only real numbers are read.")
    try:
        array = np.array(source, dtype=float)
    except (TypeError, ValueError) as error:
        raise UserError(f"{name} holds something that is no number: {error}.") from None
    if array.ndim != ndim:
        raise UserError(f"{name} has {array.ndim} levels of lists: {ndim} are allowed.")
    bad = np.argwhere(~(np.abs(array) <= LARGEST))  # catches NaN too
    if len(bad):
        place = "".join(f"[{i}]" for i in bad[0])
        raise UserError(
            f"{name}{place} = {array[tuple(bad[0])]} is not possible: only numbers from"
            f" -{LARGEST:g} to {LARGEST:g} are allowed."
        )
    return np.where(np.abs(array) < SMALLEST, 0.0, array)


def weights_of(keys: Keys, query: Vector) -> Weights:
    """Share out one unit of attention among the keys."""
    weights: np.ndarray = softmax(keys @ query)
    return weights


def output_of(instance: Instance, query: Vector) -> Output:
    """Mix the values by their weights."""
    output: np.ndarray = weights_of(instance.keys, query) @ instance.values
    return output


def output_error(instance: Instance, query: Vector, *, target: Weights) -> float:
    """Say how far the output is, in its worst coordinate, from the mean by the wanted weights."""
    return float(np.abs(output_of(instance, query) - target @ instance.values).max())
