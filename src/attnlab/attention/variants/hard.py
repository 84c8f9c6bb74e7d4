"""Hard attention: all weight on the key with the largest score.

The choice does not change when a score changes a little, so queries and keys get no gradient and
the values alone learn. ``straight_through`` (Bengio et al. 2013, arXiv:1308.3432) chooses as hard
and learns as if it had been the softmax.
"""

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
from attnlab.attention.functional import attn_scaled, pairwise_similarities
from attnlab.attention.softmax_core import (
    Context,
    masked_softmax,
    mix,
    null_key_bias,
    project,
    projections,
)
from attnlab.dropout import Dropout


@ATTENTION.register("hard")
class Hard(nn.Module):
    """Each token takes the value of one token, the best match, the first of equals."""

    supports = frozenset(CAPABILITIES)
    null_directions: tuple[str, ...] = ("query.weight", "query.bias", "key.weight", "key.bias")

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
        straight_through: bool = False,
    ) -> None:
        super().__init__()
        self.query, self.key, self.value, self.proj = projections(d_model, n_heads)
        self.n_heads, self.dropout, self.positions = n_heads, Dropout(dropout), positions
        if straight_through:
            self.null_directions = null_key_bias(positions)
        self.straight_through = straight_through

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Give the whole weight to the best key that may be seen."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        bias = context.bias(q, k)
        scores = attn_scaled(pairwise_similarities(q, k), x.shape[-1], self.n_heads)
        seen = scores if bias.added is None else scores + bias.added
        weights = F.one_hot(seen.argmax(dim=-1), k.shape[2]).to(scores.dtype)
        if bias.fully_masked is not None:
            weights = weights.masked_fill(bias.fully_masked, 0.0)
        if self.straight_through:
            soft = masked_softmax(scores, bias)
            weights = weights + (soft - soft.detach())
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
