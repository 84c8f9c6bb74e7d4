"""Rotary positions (Su et al. 2021, arXiv:2104.09864): scores depend only on distances."""

from typing import Annotated

import torch
from annotated_types import Gt
from jaxtyping import Float
from torch import Tensor

from attnlab.attention.contract import Positions
from attnlab.attention.positions import POSITIONS
from attnlab.errors import UserError


@POSITIONS.register("rotary")
class RotaryPositions(Positions):
    """Queries and keys are turned by angles that grow with their position."""

    needs = "rotary"

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,  # noqa: ARG002 - every scheme is built alike
        *,
        base: Annotated[float, Gt(0)] = 10_000.0,
    ) -> None:
        super().__init__()
        if d_model // n_heads % 2:
            raise UserError(
                "rotary positions rotate pairs of coordinates, so a head needs an even width;"
                f" d_model = {d_model} and n_heads = {n_heads} give {d_model // n_heads}."
            )
        self.base = base

    def turn(self, x: Float[Tensor, "B H T K"], start: int = 0) -> Float[Tensor, "B H T K"]:
        """Turn coordinate i together with coordinate i + K/2."""
        n_tokens, width = x.shape[2:]
        exact = torch.promote_types(x.dtype, torch.float32)  # bfloat16 cannot count to 1,000
        position = torch.arange(start, start + n_tokens, device=x.device, dtype=exact)
        even = torch.arange(0, width, 2, device=x.device, dtype=exact)
        speed = self.base ** (-even / width)
        angle = position[:, None] * speed  # (T, K/2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
