"""The causal mask after the softmax: a common mistake, kept to be looked at.

The weights of the future are set to 0, but its scores stay in the softmax's denominator, so that
every token still sees how much the later ones would have attracted it. A hand-made head reads the
next token from that alone.
"""

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, AttentionOutput, Positions, Prefix
from attnlab.attention.functional import apply_naive_causal_mask, attn_scaled, pairwise_similarities
from attnlab.attention.softmax_core import (
    Context,
    masked_softmax,
    mix,
    null_key_bias,
    project,
    projections,
)
from attnlab.dropout import Dropout


@ATTENTION.register("late_mask")
class LateMask(nn.Module):
    """Each token hides the future too late, after having counted it."""

    supports = frozenset({"causal", "bidirectional", "prefix", "rotary", "alibi", "weights"})
    breaks = frozenset({"causal"})

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
        self.null_directions = null_key_bias(positions)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Hide padding before the softmax as everybody does, and the future after it."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        assert cache is None, "what leaks from the future cannot be known before it is written"
        uncausal = context._replace(mask=replace(mask, causal=False))
        scores = attn_scaled(pairwise_similarities(q, k), x.shape[-1], self.n_heads)
        weights = masked_softmax(scores, uncausal.bias(q, k))
        if mask.causal:
            n_keys = k.shape[2] - context.n_prefix
            past = AttentionMask(causal=True).dense(
                q.shape[2], n_keys, x.device, n_prefix=context.n_prefix
            )
            weights = apply_naive_causal_mask(past[0, 0], weights)
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
