"""Scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762)."""

from typing import Unpack

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION, fast_path
from attnlab.attention.cache import Cache
from attnlab.attention.context import Bias, Context
from attnlab.attention.contract import (
    CAPABILITIES,
    AttentionMask,
    AttentionOutput,
    Prefix,
)
from attnlab.attention.functional import (
    attn_scaled,
    compute_outputs,
    init_qkv_proj,
    merge_heads,
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

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Let every head attend, and project what the heads found; written out to be read."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = self.project(x)
        q, k = context.turn(q, k)
        k, v = context.extend(k, v)
        y, weights = self.mix(q, k, v, context, need_weights=need_weights)
        return AttentionOutput(self.proj(merge_heads(y)), weights if need_weights else None)

    def kept_per_pair(self, n_tokens: int) -> int:
        """A fused kernel keeps none, but cannot be used with dropout."""
        return self.n_heads if self.dropout.p > 0 else 0

    def mix(
        self, q: Queries, k: Keys, v: Keys, context: Context, *, need_weights: bool
    ) -> tuple[Queries, Weights | None]:
        """Take torch's fused kernel or plain matmuls, whichever is faster here and can do it."""
        # torch's fused kernels give no weights, and on a CPU they cannot drop any
        drops = self.dropout.training and self.dropout.p > 0
        if not need_weights and not drops and fast_path.is_fused_faster(k):
            is_causal = _is_causal_alone(q, k, context)
            # the kernel masks the future itself, without T × S numbers
            bias = Bias(None) if is_causal else context.bias(q, k)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.added, is_causal=is_causal)
            return y if bias.fully_masked is None else y.masked_fill(bias.fully_masked, 0.0), None
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


def _is_causal_alone(q: Queries, k: Keys, context: Context) -> bool:
    """Return whether each query sees the keys up to its own and nothing is added to scores."""
    mask, positions = context.mask, context.positions
    whole = mask.padding is None and mask.segments is None and q.shape == k.shape
    return mask.causal and whole and (positions is None or positions.needs != "alibi")
