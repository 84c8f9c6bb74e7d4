"""No positions; a causal model can still tell them apart (Haviv et al. 2022, arXiv:2203.16634)."""

from attnlab.attention.contract import Positions
from attnlab.attention.positions import POSITIONS


@POSITIONS.register("none")
class NoPositions(Positions):
    """Tokens carry no positions."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:  # noqa: ARG002
        super().__init__()
