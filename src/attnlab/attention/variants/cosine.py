"""Cosine attention: only directions count (QKNorm, Henry et al. 2020, arXiv:2010.04245)."""

import math

import torch
import torch.nn.functional as F
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

SHARPNESS = 10.0
"""Where it begins: a key in the query's direction counts e^10 times one at right angles."""


@ATTENTION.register("cosine")
class Cosine(nn.Module):
    """Each token looks at the tokens whose keys have the direction of its query, however long."""

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
        self.log_sharpness = nn.Parameter(torch.full((n_heads,), math.log(SHARPNESS)))

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Mix the values by the softmax of the cosines, which a learned factor a head sharpens."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        cosines = pairwise_similarities(F.normalize(q, dim=-1), F.normalize(k, dim=-1))
        scores = cosines * self.log_sharpness.exp()[:, None, None]
        weights = masked_softmax(scores, context.bias(q, k))
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
