"""Learned absolute positions (Radford et al. 2018; BERT); they end at max_len."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention.contract import Positions, check_length
from attnlab.attention.positions import POSITIONS


@POSITIONS.register("learned")
class LearnedPositions(Positions):
    """Every position has a vector of its own, which is added to its token."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:  # noqa: ARG002
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def add(self, x: Float[Tensor, "B T D"], start: int = 0) -> Float[Tensor, "B T D"]:
        """Add the vectors of these positions."""
        end = start + x.shape[1]
        check_length(end, self.table.num_embeddings, "learned positions")
        out: Tensor = x + self.table(torch.arange(start, end, device=x.device))
        return out
