"""Self-attention with and without key, query and value matrices (*yelp*).

Words u_a, u_b, u_c, u_d are at right angles and of length β; the sentence is u_d + u_b, u_a,
u_c + u_b. With k = q = v = x each token finds itself. Matrices let a token ask for another and
return something else of it: the second is to give u_b, the first u_b − u_c.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from attnlab.errors import UserError
from attnlab.geometry.examples import word_tokens, word_vectors
from attnlab.geometry.shapes import Vector

LONGEST_WORD = 1e6


@dataclass(frozen=True, eq=False)
class Matrices:
    """K, Q and V: k_i = K x_i, q_i = Q x_i, v_i = V x_i."""

    key: Float[np.ndarray, "D D"]
    query: Float[np.ndarray, "D D"]
    value: Float[np.ndarray, "D D"]


@dataclass(frozen=True, eq=False)
class Contexts:
    """What every token gets: weights over all tokens, and the mean of their values."""

    weights: Float[np.ndarray, "T T"]
    outputs: Float[np.ndarray, "T D"]


@dataclass(frozen=True, eq=False)
class Rate:
    """How the error falls as the words get longer: about factor · exp(−rate · β²)."""

    betas: tuple[float, ...]
    errors: Float[np.ndarray, "N W"]
    """One row per β, one column per wanted token."""
    rate: float
    """Of the relative error (over β), by a straight line through the last two points."""


@dataclass(frozen=True, eq=False)
class Alone:
    """What the second token gets without matrices, after a word was added to it."""

    added: str
    token: Vector
    context: Vector
    to_itself: float
    """How far the context is from the token itself."""
    to_u_b: float


def identity_matrices(width: int) -> Matrices:
    """No matrices at all: keys, queries and values are the tokens."""
    return Matrices(np.eye(width), np.eye(width), np.eye(width))


def construction() -> Matrices:
    """V = (u_b u_bᵀ − u_c u_cᵀ)/β², K = I, Q = (u_d u_aᵀ + u_c u_dᵀ)/β²: the same for every β."""
    a, b, c, d = word_vectors(1.0)
    value = np.outer(b, b) - np.outer(c, c)
    return Matrices(np.eye(len(a)), np.outer(d, a) + np.outer(c, d), value)


def wanted_contexts(beta: float) -> dict[int, Vector]:
    """What the assignment asks for: c₂ ≈ u_b and c₁ ≈ u_b − u_c, counted from 0 here."""
    _, b, c, _ = word_vectors(beta)
    return {1: b, 0: b - c}


def self_attention(tokens: Float[np.ndarray, "T D"], matrices: Matrices) -> Contexts:
    """Let every token look at all."""
    keys, queries = tokens @ matrices.key.T, tokens @ matrices.query.T
    weights = softmax(queries @ keys.T, axis=1)
    return Contexts(weights, weights @ (tokens @ matrices.value.T))


def context_errors(beta: float, matrices: Matrices) -> dict[int, float]:
    """Say how far each wanted context is off, in its worst coordinate."""
    outputs = self_attention(word_tokens(beta), matrices).outputs
    return {
        token: float(np.abs(outputs[token] - context).max())
        for token, context in wanted_contexts(beta).items()
    }


def rate_in_beta(matrices: Matrices, *, betas: Sequence[float] = (1, 1.5, 2, 2.5, 3)) -> Rate:
    """Try proposed matrices on the assignment's sentence for longer and longer words."""
    if len(betas) < 2 or any(not beta > 0 for beta in betas) or list(betas) != sorted(set(betas)):
        raise UserError(f"betas = {list(betas)} must be two or more rising numbers above 0.")
    errors = np.array([list(context_errors(b, matrices).values()) for b in betas])
    relative = errors.max(axis=1) / np.array(betas)
    squares = np.square(betas)
    tiny = np.finfo(float).tiny
    fall = np.log(max(relative[-2], tiny)) - np.log(max(relative[-1], tiny))
    return Rate(tuple(betas), errors, float(fall / (squares[-1] - squares[-2])))


def without_matrices(beta: float) -> tuple[Alone, ...]:
    """Let the second token find itself, as it is and with u_c or u_d added."""
    words = dict(zip("abcd", word_vectors(beta), strict=True))
    found = []
    for added in ("", "c", "d"):
        tokens = word_tokens(beta)
        tokens[1] += words[added] if added else 0
        context = self_attention(tokens, identity_matrices(len(words))).outputs[1]
        apart = (float(np.abs(context - other).max()) for other in (tokens[1], words["b"]))
        found.append(Alone(f"u_{added}" if added else "nothing", tokens[1], context, *apart))
    return tuple(found)
