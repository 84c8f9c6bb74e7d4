"""ALiBi, attention with linear biases (Press et al. 2021, arXiv:2108.12409)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnlab.attention.contract import Positions
from attnlab.attention.positions import POSITIONS


@POSITIONS.register("alibi")
class AlibiPositions(Positions):
    """The farther a key, the lower its score; each head with a slope of its own.

    The slopes fall geometrically from 2^(−8/H) to 2^(−8), as in the paper when H is a power of two.
    """

    needs = "alibi"

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:  # noqa: ARG002
        super().__init__()
        self.n_heads = n_heads

    def bias(self, distance: Int[Tensor, "T S"]) -> Float[Tensor, "H T S"]:
        """Give minus slope times distance; a key ahead, in both directions, counts alike."""
        head = torch.arange(1, self.n_heads + 1, device=distance.device)
        slopes = 2.0 ** (-8.0 * head / self.n_heads)
        return -slopes[:, None, None] * distance.abs()
