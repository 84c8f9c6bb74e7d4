"""Gaussian attention: near keys score high (Tsai et al. 2019, arXiv:1908.11775)."""

import math

from jaxtyping import Float
from torch import Tensor

from attnlab.attention import ATTENTION
from attnlab.attention.contract import CAPABILITIES
from attnlab.attention.functional import pairwise_similarities
from attnlab.attention.softmax_core import MultiHeadAttention


@ATTENTION.register("gaussian")
class Gaussian(MultiHeadAttention):
    """Each token looks at the tokens whose keys lie near its query."""

    supports = frozenset(CAPABILITIES)

    def score(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H S K"]
    ) -> Float[Tensor, "B H T S"]:
        """Take half the squared distances, negative and scaled."""
        # the query's own square does not matter to the softmax, and is left out
        half_square = k.square().sum(-1).div(2)[:, :, None, :]
        return (pairwise_similarities(q, k) - half_square) / math.sqrt(q.shape[-1])
