"""Dot-product attention whose projections are small networks instead of matrices."""

from typing import Annotated, Unpack

from annotated_types import Ge
from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.softmax_core import Given, null_key_bias
from attnlab.attention.variants.dot_product import DotProductLayer
from attnlab.errors import UserError


@ATTENTION.register("mlp_projection")
class MlpProjection(DotProductLayer):
    """Each token makes its query, key and value with a small network.

    ``on`` says which of q, k and v are networks. ``hidden`` is their inner width, d_model if it is
    not given; 0 puts a GELU on the matrix and nothing more.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        on: str = "qkv",
        hidden: Annotated[int, Ge(0)] | None = None,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        if not on or set(on) - set("qkv"):
            raise UserError(
                f"mlp_projection: on = {on!r} is not possible. Allowed: letters of 'qkv'."
            )
        width = d_model if hidden is None else hidden
        self.query, self.key, self.value = (
            _network(d_model, width) if role in on else nn.Linear(d_model, d_model)
            for role in "qkv"
        )
        self.proj = nn.Linear(d_model, d_model)
        gelu_is_last = "k" in on and width == 0
        last_bias = "key.2.bias" if "k" in on else "key.bias"
        self.null_directions = () if gelu_is_last else null_key_bias(self.positions, last_bias)


def _network(d_model: int, hidden: int) -> nn.Sequential:
    if hidden == 0:
        return nn.Sequential(nn.Linear(d_model, d_model), nn.GELU())
    return nn.Sequential(nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model))
