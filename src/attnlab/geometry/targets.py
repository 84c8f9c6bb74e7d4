"""What can be asked of the weights: one token, the mean of some, or any distribution."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnlab.errors import UserError
from attnlab.geometry.instance import vector
from attnlab.geometry.shapes import Weights

SUM_TOLERANCE = 1e-9


def select(n_tokens: int, index: Any) -> Weights:
    """All weight on one token."""
    return average(n_tokens, [index])


def average(n_tokens: int, subset: Sequence[Any]) -> Weights:
    """The same weight on each token of a subset, none on the others."""
    chosen = [token_index(n_tokens, index) for index in subset]
    if not chosen:
        raise UserError(
            f"the subset is empty: name at least one of the tokens 0 … {n_tokens - 1}, e.g. 0."
        )
    if len(set(chosen)) < len(chosen):
        raise UserError(f"the subset {chosen} names a token twice: name each once.")
    target = np.zeros(n_tokens)
    target[chosen] = 1 / len(chosen)
    return target


def distribution(n_tokens: int, weights: Any) -> Weights:
    """Any weights that are not negative and sum to 1."""
    target = vector(weights, "weights", length=n_tokens)
    if target.min() < 0:
        worst = int(target.argmin())
        raise UserError(
            f"weights[{worst}] = {target[worst]:g} is negative: a weight is from 0 to 1."
        )
    total = float(target.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise UserError(f"the weights sum to {total:.12g}, not to 1: divide them by their sum.")
    return target / total


def token_index(n_tokens: int, index: Any) -> int:
    """Check that there is such a token; they are counted from 0."""
    try:
        number = operator.index(index)
    except TypeError:
        raise UserError(
            f"token {index!r} is no whole number: tokens are counted 0 … {n_tokens - 1}."
        ) from None
    if not 0 <= number < n_tokens:
        raise UserError(
            f"token {number} is not there: the {n_tokens} tokens are counted 0 … {n_tokens - 1}."
        )
    return number
