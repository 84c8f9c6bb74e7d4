"""Scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762)."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION, fast_path
from attnlab.attention.cache import Cache
from attnlab.attention.contract import (
    CAPABILITIES,
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
)
from attnlab.attention.functional import (
    attn_scaled,
    compute_outputs,
    merge_heads,
    pairwise_similarities,
)
from attnlab.attention.softmax_core import (
    Context,
    masked_softmax,
    null_key_bias,
    project,
    projections,
)
from attnlab.dropout import Dropout


@ATTENTION.register("dot_product")
class DotProduct(nn.Module):
    """Each token looks at the tokens whose keys point where its query points."""

    supports = frozenset(CAPABILITIES)
    null_directions: tuple[str, ...]

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
        """Mix the values by the softmax of the scaled scores."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        y, weights = dot_product_attention(
            q, k, v, context=context, dropout=self.dropout, need_weights=need_weights
        )
        return AttentionOutput(self.proj(merge_heads(y)), weights)


def dot_product_attention(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H S K"],
    v: Float[Tensor, "B H S K"],
    *,
    context: Context,
    dropout: nn.Dropout,
    need_weights: bool,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T S"] | None]:
    """Take torch's fused kernel or plain matmuls, whichever is faster here and can do it."""
    # torch's fused kernels give no weights, and on a CPU they cannot drop any
    drops = dropout.training and dropout.p > 0
    if not need_weights and not drops and fast_path.is_fused_faster(k):
        if _is_plain_causal(q, k, context):  # which needs no T × S numbers at all
            return F.scaled_dot_product_attention(q, k, v, is_causal=True), None
        bias = context.bias(q, k)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.added)
        return y if bias.fully_masked is None else y.masked_fill(bias.fully_masked, 0.0), None
    # scaling the queries is scaling the scores, at T × K instead of T × S numbers
    scores = pairwise_similarities(attn_scaled(q, q.shape[-1], 1), k)
    weights = masked_softmax(scores, context.bias(q, k))
    return compute_outputs(dropout(weights), v), weights if need_weights else None


def _is_plain_causal(
    q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H S K"], context: Context
) -> bool:
    """Say whether every query sees the keys up to its own, and nothing biases its scores."""
    mask, positions = context.mask, context.positions
    whole = mask.padding is None and mask.segments is None and q.shape == k.shape
    return mask.causal and whole and (positions is None or positions.needs != "alibi")
