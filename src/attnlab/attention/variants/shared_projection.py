"""Dot-product attention with one projection for two of query, key and value, or for all three.

With one projection for query and key every score is symmetric, so that a token looks most at
those like itself; with one for all three it can hardly look anywhere else.
"""

from typing import Literal

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
    check_heads,
)
from attnlab.attention.functional import merge_heads, split_heads
from attnlab.attention.softmax_core import Context, apply_context, null_key_bias
from attnlab.attention.variants.dot_product import dot_product_attention
from attnlab.dropout import Dropout


@ATTENTION.register("shared_projection")
class SharedProjection(nn.Module):
    """Each token asks, answers or tells with the same vector."""

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
        share: Literal["qk", "kv", "qv", "qkv"] = "qk",
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.projections = nn.ModuleDict(
            {role: nn.Linear(d_model, d_model) for role in _roles(share)}
        )
        self.proj = nn.Linear(d_model, d_model)
        self.dropout, self.positions = Dropout(dropout), positions
        alone = "k" in self.projections
        self.null_directions = null_key_bias(positions, "projections.k.bias") if alone else ()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Project once for each group of roles, then attend as ever."""
        projected: dict[str, Tensor] = {}
        for roles, linear in self.projections.items():
            projected |= dict.fromkeys(roles, split_heads(linear(x), self.n_heads))
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = apply_context(projected["q"], projected["k"], projected["v"], context)
        y, weights = dot_product_attention(
            q, k, v, context=context, dropout=self.dropout, need_weights=need_weights
        )
        return AttentionOutput(self.proj(merge_heads(y)), weights)


def _roles(share: str) -> list[str]:
    """Return the shared group and the roles that are left."""
    return [share, *(role for role in "qkv" if role not in share)]
