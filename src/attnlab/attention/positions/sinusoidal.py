"""Sinusoidal positions (Vaswani et al. 2017, arXiv:1706.03762, §3.5); they never end."""

import math
from typing import Annotated

import torch
from annotated_types import Gt
from jaxtyping import Float
from torch import Tensor

from attnlab.attention.contract import Positions
from attnlab.attention.positions import POSITIONS


@POSITIONS.register("sinusoidal")
class SinusoidalPositions(Positions):
    """Waves of many lengths are added; a shift by n tokens is the same turn everywhere."""

    def __init__(
        self,
        d_model: int,  # noqa: ARG002 - every scheme is built alike
        n_heads: int,  # noqa: ARG002
        max_len: int,  # noqa: ARG002
        *,
        base: Annotated[float, Gt(0)] = 10_000.0,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.base, self.scale = base, scale

    def add(self, x: Float[Tensor, "B T D"], start: int = 0) -> Float[Tensor, "B T D"]:
        """Add sine and cosine in turns."""
        n_tokens, width = x.shape[1:]
        exact = torch.promote_types(x.dtype, torch.float32)  # bfloat16 cannot count to 1,000
        position = torch.arange(start, start + n_tokens, device=x.device, dtype=exact)
        even = torch.arange(0, width, 2, device=x.device, dtype=exact)
        angle = position[:, None] * torch.exp(-math.log(self.base) / width * even)
        waves = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]
        return x + self.scale * waves.to(x.dtype)
