"""The causal mask after the softmax: a common mistake, kept to be looked at.

The weights of the future are set to 0, but its scores stay in the softmax's denominator, so that
every token still sees how much the later ones would have attracted it. A hand-made head reads the
next token from that alone.
"""

from dataclasses import replace
from typing import Unpack

from attnlab.attention import ATTENTION
from attnlab.attention.context import Context
from attnlab.attention.contract import AttentionMask
from attnlab.attention.functional import apply_naive_causal_mask, attn_scaled, pairwise_similarities
from attnlab.attention.softmax_core import (
    Given,
    Keys,
    MultiHeadAttention,
    Queries,
    Weights,
    masked_softmax,
    null_key_bias,
)


@ATTENTION.register("late_mask")
class LateMask(MultiHeadAttention):
    """Each token hides the future too late, after having counted it."""

    supports = frozenset({"causal", "bidirectional", "prefix", "rotary", "alibi", "weights"})
    breaks = frozenset({"causal"})

    def __init__(self, d_model: int, n_heads: int, max_len: int, **given: Unpack[Given]) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.null_directions = null_key_bias(self.positions)

    def weights(self, q: Queries, k: Keys, context: Context) -> Weights:
        """Hide padding before the softmax as everybody does, and the future after it."""
        mask, n_prefix = context.mask, context.n_prefix
        assert context.cache is None, "what leaks from the future is unknown before it is written"
        uncausal = context._replace(mask=replace(mask, causal=False))
        scores = attn_scaled(pairwise_similarities(q, k), q.shape[-1], 1)
        weights = masked_softmax(scores, uncausal.bias(q, k))
        if not mask.causal:
            return weights
        n_keys = k.shape[2] - n_prefix
        past = AttentionMask(causal=True).dense(q.shape[2], n_keys, q.device, n_prefix=n_prefix)
        return apply_naive_causal_mask(past[0, 0], weights)
