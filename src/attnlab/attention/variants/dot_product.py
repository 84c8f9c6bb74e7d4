"""Scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762)."""

from typing import Unpack

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION, fast_path
from attnlab.attention.context import Context
from attnlab.attention.contract import CAPABILITIES
from attnlab.attention.functional import (
    attn_scaled,
    compute_outputs,
    init_qkv_proj,
    pairwise_similarities,
)
from attnlab.attention.softmax_core import (
    AttentionLayer,
    Given,
    Keys,
    Queries,
    Weights,
    masked_softmax,
    null_key_bias,
)


class DotProductLayer(AttentionLayer):
    """Dot-product attention between queries, keys and values, however they are made."""

    supports = frozenset(CAPABILITIES)
    null_directions: tuple[str, ...]

    def mix(
        self, q: Queries, k: Keys, v: Keys, context: Context, *, need_weights: bool
    ) -> tuple[Queries, Weights | None]:
        """Take torch's fused kernel or plain matmuls, whichever is faster here and can do it."""
        # torch's fused kernels give no weights, and on a CPU they cannot drop any
        drops = self.dropout.training and self.dropout.p > 0
        if not need_weights and not drops and fast_path.is_fused_faster(k):
            return _fused(q, k, v, context), None
        # scaling the queries is scaling the scores, at T × K instead of T × S numbers
        scores = pairwise_similarities(attn_scaled(q, q.shape[-1], 1), k)
        weights = masked_softmax(scores, context.bias(q, k))
        return compute_outputs(self.dropout(weights), v), weights


@ATTENTION.register("dot_product")
class DotProduct(DotProductLayer):
    """Each token looks at the tokens whose keys point where its query points."""

    def __init__(self, d_model: int, n_heads: int, max_len: int, **given: Unpack[Given]) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.query, self.key, self.value = init_qkv_proj(d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.null_directions = null_key_bias(self.positions)


def _fused(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H S K"],
    v: Float[Tensor, "B H S K"],
    context: Context,
) -> Float[Tensor, "B H T K"]:
    mask, positions = context.mask, context.positions
    whole = mask.padding is None and mask.segments is None and q.shape == k.shape
    if mask.causal and whole and (positions is None or positions.needs != "alibi"):
        # every query sees the keys up to its own, which needs no T × S numbers at all
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    bias = context.bias(q, k)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.added)
    return y if bias.fully_masked is None else y.masked_fill(bias.fully_masked, 0.0)
