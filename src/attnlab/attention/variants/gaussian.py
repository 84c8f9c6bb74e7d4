"""Gaussian attention: near keys score high (Tsai et al. 2019, arXiv:1908.11775)."""

import math

from attnlab.attention import ATTENTION
from attnlab.attention.contract import CAPABILITIES
from attnlab.attention.functional import pairwise_similarities
from attnlab.attention.softmax_core import Keys, MultiHeadAttention, Queries, Weights


@ATTENTION.register("gaussian")
class Gaussian(MultiHeadAttention):
    """Each token looks at the tokens whose keys lie near its query."""

    supports = frozenset(CAPABILITIES)

    def score(self, q: Queries, k: Keys) -> Weights:
        """Take half the squared distances, negative and scaled."""
        # the query's own square does not matter to the softmax, and is left out
        half_square = k.square().sum(-1).div(2)[:, :, None, :]
        return (pairwise_similarities(q, k) - half_square) / math.sqrt(q.shape[-1])
