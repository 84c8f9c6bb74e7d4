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
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
    check_heads,
)
from attnlab.attention.functional import (
    attn_scaled,
    compute_outputs,
    init_qkv_proj,
    merge_heads,
    pairwise_similarities,
    split_heads_qkv,
)
from attnlab.attention.softmax_core import (
    Context,
    apply_context,
    bias_of,
    masked_softmax,
    null_key_bias,
)
from attnlab.dropout import Dropout


@ATTENTION.register("hard")
class Hard(nn.Module):
    """Each token takes the value of one token, the best match, the first of equals."""

    supports = frozenset(
        {"causal", "bidirectional", "cache", "prefix", "rotary", "alibi", "weights"}
    )
    null_directions: tuple[str, ...] = ("query.weight", "query.bias", "key.weight", "key.bias")

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,  # noqa: ARG002 - every variant is built alike
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
        straight_through: bool = False,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.query, self.key, self.value = init_qkv_proj(d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)
        self.positions = positions
        self.straight_through = straight_through
        if straight_through:
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
        """Give the whole weight to the best key that may be seen."""
        q, k, v = split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_heads)
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = apply_context(q, k, v, context)
        bias = bias_of(q, k, context)
        scores = attn_scaled(pairwise_similarities(q, k), x.shape[-1], self.n_heads)
        seen = scores if bias.added is None else scores + bias.added
        weights = F.one_hot(seen.argmax(dim=-1), k.shape[2]).to(scores.dtype)
        if bias.fully_masked is not None:
            weights = weights.masked_fill(bias.fully_masked, 0.0)
        if self.straight_through:
            soft = masked_softmax(scores, bias)
            weights = weights + (soft - soft.detach())
        y = compute_outputs(self.dropout(weights), v)
        return AttentionOutput(self.proj(merge_heads(y)), weights if need_weights else None)
