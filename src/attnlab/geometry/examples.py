"""The keys, values and vectors of the assignments, by name."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from attnlab.errors import unknown_name
from attnlab.geometry.instance import Instance, make_instance


def cse517() -> Instance:
    """*attention*: four keys of about unit length in three dimensions."""
    return make_instance(
        [[0.47, 0.65, 0.60], [0.64, 0.50, -0.59], [-0.03, -0.48, -0.88], [0.43, -0.83, 0.35]],
        [[-0.07, -0.88, 0.47], [0.37, -0.93, -0.07], [-0.25, -0.75, 0.61], [0.94, 0.20, 0.28]],
    )


def argmax() -> Instance:
    """*boolq*: four whole-numbered keys and values, met by the query (-2, 1, 1)."""
    return make_instance(
        [[0, 1, 2], [1, 1, 2], [-1, 1, -2], [0, -1, -2]],
        [[3, 2, -4], [3, -2, 4], [3, 2, 0], [3, 2, 4]],
    )


ARGMAX_QUERY = (-2.0, 1.0, 1.0)

BASIS_A = ((0.6, 0.8, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))
BASIS_B = ((0.8, -0.6, 0.0, 0.0),)
"""*knowledge*: orthonormal bases of two orthogonal subspaces, which it leaves to choose."""


def orthonormal() -> Instance:
    """*knowledge* and *boolq*: keys of unit length at right angles; the output is the weights."""
    return make_instance(np.eye(5))


def unequal() -> Instance:
    """Beyond the assignments: a long key hides a short one, which S·k₀ then fails to select."""
    return make_instance([[1.0, -0.5], [3.0, 1.0], [0.0, 2.0], [-1.0, 0.5]])


def interior() -> Instance:
    """Beyond the assignments: key 3 lies inside the triangle of the others, its value does not."""
    return make_instance(
        [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]],
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]],
    )


def midpoint() -> Instance:
    """Beyond the assignments: key 2 and its value lie halfway: no weights, but the output."""
    return make_instance(
        [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [0.0, 3.0]],
        [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [-1.0, -1.0]],
    )


EXAMPLES: dict[str, Callable[[], Instance]] = {
    make.__name__: make for make in (cse517, argmax, orthonormal, unequal, interior, midpoint)
}


def example(name: str) -> Instance:
    """Return the instance of a name."""
    if name not in EXAMPLES:
        raise unknown_name("example", name, EXAMPLES)
    return replace(EXAMPLES[name](), name=f"the example {name}")


def word_vectors(beta: float) -> Float[np.ndarray, "4 4"]:
    """*yelp*: u_a, u_b, u_c, u_d as rows, at right angles and each of length β."""
    return beta * np.eye(4)


def word_tokens(beta: float) -> Float[np.ndarray, "3 4"]:
    """*yelp*: the sentence u_d + u_b, u_a, u_c + u_b."""
    a, b, c, d = word_vectors(beta)
    return np.stack([d + b, a, c + b])
