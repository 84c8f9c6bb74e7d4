"""Dot-product attention whose projections are small networks instead of matrices."""

from typing import Annotated

from annotated_types import Ge
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
from attnlab.attention.functional import merge_heads
from attnlab.attention.softmax_core import Context, null_key_bias, project
from attnlab.attention.variants.dot_product import dot_product_attention
from attnlab.dropout import Dropout
from attnlab.errors import UserError


@ATTENTION.register("mlp_projection")
class MlpProjection(nn.Module):
    """Each token thinks before it asks, answers or tells.

    ``on`` says which of q, k and v are networks. ``hidden`` is their inner width, d_model if it is
    not given; 0 puts a GELU on the matrix and nothing more.
    """

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
        on: str = "qkv",
        hidden: Annotated[int, Ge(0)] | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        if not on or set(on) - set("qkv"):
            raise UserError(
                f"mlp_projection: on = {on!r} is not possible. Allowed: letters of 'qkv'."
            )
        self.n_heads = n_heads
        width = d_model if hidden is None else hidden
        self.query, self.key, self.value = (
            _network(d_model, width) if role in on else nn.Linear(d_model, d_model)
            for role in "qkv"
        )
        self.proj = nn.Linear(d_model, d_model)
        self.dropout, self.positions = Dropout(dropout), positions
        gelu_is_last = "k" in on and width == 0
        last_bias = "key.2.bias" if "k" in on else "key.bias"
        self.null_directions = () if gelu_is_last else null_key_bias(positions, last_bias)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Project by the networks, then attend as ever."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        y, weights = dot_product_attention(
            q, k, v, context=context, dropout=self.dropout, need_weights=need_weights
        )
        return AttentionOutput(self.proj(merge_heads(y)), weights)


def _network(d_model: int, hidden: int) -> nn.Sequential:
    if hidden == 0:
        return nn.Sequential(nn.Linear(d_model, d_model), nn.GELU())
    return nn.Sequential(nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model))
