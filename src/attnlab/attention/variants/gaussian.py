"""Gaussian attention: near keys score high (Tsai et al. 2019, arXiv:1908.11775)."""

import math

from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import (
    CAPABILITIES,
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
)
from attnlab.attention.functional import pairwise_similarities
from attnlab.attention.softmax_core import Context, masked_softmax, mix, project, projections
from attnlab.dropout import Dropout


@ATTENTION.register("gaussian")
class Gaussian(nn.Module):
    """Each token looks at the tokens whose keys lie near its query."""

    supports = frozenset(CAPABILITIES)

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
    ) -> None:
        super().__init__()
        self.query, self.key, self.value, self.proj = projections(d_model, n_heads)
        self.n_heads, self.dropout, self.positions = n_heads, Dropout(dropout), positions

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Mix the values by the softmax of half the squared distances, negative and scaled."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        # the query's own square does not matter to the softmax, and is left out
        half_square = k.square().sum(-1).div(2)[:, :, None, :]
        scores = (pairwise_similarities(q, k) - half_square) / math.sqrt(q.shape[-1])
        weights = masked_softmax(scores, context.bias(q, k))
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
