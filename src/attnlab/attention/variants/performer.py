"""Performer attention, FAVOR+ (Choromanski et al. 2020, arXiv:2009.14794).

exp(q·k) is the mean of exp(w·q − |q|²/2) exp(w·k − |k|²/2) over normal w. With a fixed set of w,
orthogonal in blocks to vary less, softmax attention becomes a sum of positive features.

The exponent of a key never exceeds |w|²/2, about half the width of a head, so no maximum over the
keys is needed, which would let the future in through rounding. Keys much longer than the directions
have features that float32 cannot hold: they get no weight. Dropout acts on the outputs.
"""

import math
from typing import Annotated, Unpack

import torch
from annotated_types import Ge
from jaxtyping import Float
from torch import Tensor

from attnlab.attention import ATTENTION
from attnlab.attention.linear_core import FeatureAttention
from attnlab.attention.softmax_core import Given

LARGEST_EXPONENT = 60.0
"""Reached only in heads wider than about 120, by a key along the longest direction."""


@ATTENTION.register("performer")
class Performer(FeatureAttention):
    """Each token sees the tokens before it as one sum of random features that replace the softmax.

    ``n_features`` is their number, K ln K for heads of width K if it is not given; more come nearer
    to dot-product attention.
    """

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "rotary", "weights"})

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        n_features: Annotated[int, Ge(1)] | None = None,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        width = d_model // n_heads
        n_features = n_features or max(1, int(width * math.log(width)))
        self.directions: Tensor
        self.register_buffer("directions", draw_directions(n_features, width))

    def query_features(self, q: Float[Tensor, "B H T K"]) -> Float[Tensor, "B H T M"]:
        """A factor that all features of a query share cancels, so its largest becomes 1."""
        exponent = (q * q.shape[-1] ** -0.25) @ self.directions.T
        return torch.exp(exponent - exponent.amax(-1, keepdim=True).detach())

    def key_features(self, k: Float[Tensor, "b H S K"]) -> Float[Tensor, "b H S M"]:
        """The length of a key counts: a long one has small features in most directions."""
        k = k * k.shape[-1] ** -0.25
        exponent = k @ self.directions.T - k.square().sum(-1, keepdim=True) / 2
        return torch.exp(exponent.clamp(max=LARGEST_EXPONENT))


def draw_directions(n_features: int, width: int) -> Float[Tensor, "M K"]:
    """Draw normal vectors, at right angles to each other as far as the width allows.

    The QR decomposition chooses the signs of its vectors; ours are random.
    """
    blocks = [
        torch.linalg.qr(torch.randn(width, width)).Q.T for _ in range(math.ceil(n_features / width))
    ]
    lengths = torch.randn(n_features, width).norm(dim=1, keepdim=True)
    signs = torch.randint(2, (n_features, 1)) * 2 - 1
    directions: Tensor = torch.cat(blocks)[:n_features] * lengths * signs
    return directions
