"""Keys of varying length, seen by one head and by two (*knowledge*, *yelp*).

Means μ_i are orthonormal; k_i ~ N(μ_i, αI), but k_a ~ N(μ_a, αI + λ μ_a μ_aᵀ): it points where μ_a
points and is longer or shorter. In the assignment the length variance λ is 0 first, then ½. One
head asks with β(μ_a + μ_b), two heads with β μ_a and β μ_b and average their outputs. Only the
products of keys with μ_a and μ_b matter, so only those are drawn.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr, softmax

from attnlab.errors import UserError
from attnlab.geometry.instance import LARGEST
from attnlab.runs.memory import need_memory

LENGTH_VARIANCE = 0.5


@dataclass(frozen=True, eq=False)
class NoisyHeads:
    """Weights over many draws of the keys; tokens a and b are the first two columns."""

    one_head: Float[np.ndarray, "N S"]
    two_heads: Float[np.ndarray, "N S"]
    """The mean of both heads' weights, which are the weights of their mean output."""
    keys_a: Float[np.ndarray, "N 2"]
    """k_a of each draw along μ_a and μ_b: the assignment's figure 1."""
    ignored: Bool[np.ndarray, "N"]
    """Draws in which k_a points away from μ_a, which the assignment leaves out."""
    beta: float
    alpha: float
    length_variance: float

    def deviation(self, heads: int, *, without_ignored: bool = False) -> float:
        """Give the standard deviation of the weight on v_a; NaN if every draw is left out."""
        weights = self.weight_on_a(heads)[~self.ignored if without_ignored else slice(None)]
        if not len(weights):
            return math.nan
        return float(weights.std()) if np.ptp(weights) else 0.0  # equal weights: no rounding

    def weight_on_a(self, heads: int) -> Float[np.ndarray, "N"]:
        """Give the weight on v_a in each draw, with one head or with two."""
        return (self.one_head, self.two_heads)[heads - 1][:, 0]

    def quantiles(self, heads: int) -> tuple[float, float, float]:
        """Give the weight on v_a below which 5, 50 and 95 of 100 draws lie."""
        low, middle, high = np.quantile(self.weight_on_a(heads), (0.05, 0.5, 0.95))
        return float(low), float(middle), float(high)


def noisy_heads(
    *,
    n_tokens: int = 20,
    beta: float = 10.0,
    alpha: float = 1e-6,
    length_variance: float = LENGTH_VARIANCE,
    draws: int = 20_000,
    seed: int = 0,
) -> NoisyHeads:
    """Draw the keys many times and record the weights."""
    if n_tokens < 2 or draws < 1:
        raise UserError(
            f"{n_tokens} tokens and {draws} draws are not enough: at least 2 tokens and 1 draw."
        )
    if not (0 <= alpha <= LARGEST and abs(beta) <= LARGEST):  # catches NaN too
        raise UserError(
            f"alpha = {alpha:g} and beta = {beta:g} are not possible: alpha from 0 to {LARGEST:g},"
            f" beta from -{LARGEST:g} to {LARGEST:g}."
        )
    if not 0 <= length_variance <= LARGEST:
        raise UserError(
            f"length_variance = {length_variance:g} is not possible: give 0 to {LARGEST:g}."
        )
    need_memory(8 * 6 * draws * n_tokens, f"--tokens {n_tokens} with --draws {draws}")
    generator = np.random.default_rng(seed)
    along = math.sqrt(alpha) * generator.normal(size=(draws, n_tokens, 2))  # k_i·μ_a and k_i·μ_b
    along[:, 0, 0] += 1 + math.sqrt(length_variance) * generator.normal(size=draws)
    along[:, 1, 1] += 1
    weights = _weights(along, beta=beta)
    return NoisyHeads(*weights, along[:, 0], along[:, 0, 0] < 0, beta, alpha, length_variance)


def _weights(
    along: Float[np.ndarray, "N S 2"], *, beta: float
) -> tuple[Float[np.ndarray, "N S"], Float[np.ndarray, "N S"]]:
    """Give the weights with one head and with two, from the keys' products with μ_a and μ_b."""
    return softmax(beta * along.sum(axis=2), axis=1), softmax(beta * along, axis=1).mean(axis=2)


def ignored_probability(length_variance: float = LENGTH_VARIANCE, *, alpha: float = 0.0) -> float:
    """Give the probability that k_a points away from μ_a."""
    variance = length_variance + alpha
    return float(ndtr(-1 / math.sqrt(variance))) if variance else 0.0
