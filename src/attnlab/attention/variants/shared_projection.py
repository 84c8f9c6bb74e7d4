"""Dot-product attention with one projection for two of query, key and value, or for all three.

With one projection for query and key every score is symmetric, so that a token looks most at
those like itself; with one for all three it can hardly look anywhere else.
"""

from typing import Literal, Unpack

from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.functional import split_heads
from attnlab.attention.softmax_core import Given, null_key_bias
from attnlab.attention.variants.dot_product import DotProductLayer


@ATTENTION.register("shared_projection")
class SharedProjection(DotProductLayer):
    """Each token uses the same vector in two roles, or in all three: query, key and value."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        share: Literal["qk", "kv", "qv", "qkv"] = "qk",
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        groups = [share, *(role for role in "qkv" if role not in share)]
        self.projections = nn.ModuleDict({group: nn.Linear(d_model, d_model) for group in groups})
        self.proj = nn.Linear(d_model, d_model)
        alone = "k" in groups
        self.null_directions = null_key_bias(self.positions, "projections.k.bias") if alone else ()

    def project(
        self, x: Float[Tensor, "B T D"]
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        """Project once for each group of roles."""
        projected: dict[str, Tensor] = {}
        for group, linear in self.projections.items():
            projected |= dict.fromkeys(group, split_heads(linear(x), self.n_heads))
        return projected["q"], projected["k"], projected["v"]
