"""A hashed n-gram embedding, added alongside the layers.

Hashed n-grams at the input, as in fastText (Bojanowski et al. 2017, arXiv:1607.04606) and, with a
transformer on top, Engram (Cheng et al. 2026, arXiv:2601.07372). A name is a few tokens in a row,
so what is known about it finds room in rows that nothing else uses, and only the rows of the names
in a batch are read and written: a table of many millions of numbers costs what those rows cost.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

BASE, MIXER = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93  # odd, without pattern


class NGramTable(nn.Module):
    """Adds up the rows of the n-grams that end at each token."""

    def __init__(self, d_model: int, *, rows: int, orders: Sequence[int]) -> None:
        super().__init__()
        self.orders = tuple(orders)
        self.table = nn.Embedding(rows, d_model, sparse=True)
        nn.init.zeros_(self.table.weight)  # an n-gram that was never learned says nothing

    @property
    def reach(self) -> int:
        """How many earlier tokens the row of a token depends on."""
        return max(self.orders) - 1

    @property
    def device(self) -> torch.device:
        """Where the table is."""
        return self.table.weight.device

    def forward(
        self, tokens: Int[Tensor, "B T"], is_read_only: Bool[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B T D"]:
        """Return what is stored at each token; a read-only row of the batch changes nothing."""
        places = self.places(tokens)
        if is_read_only is None:
            found: Tensor = self.table(places).sum(-2)
            return found
        # Not even a gradient of zero: SparseAdam would move the row on by its momentum.
        found = F.embedding(places, self.table.weight.detach()).sum(-2)
        writes = ~is_read_only
        return found.index_put((writes,), self.table(places[writes]).sum(-2))

    def known(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, " B"]:
        """Return for each row of tokens the share of its n-grams that something was learned of."""
        written = (self.table.weight[self.places(tokens)] != 0).any(-1)
        return written.float().mean((-2, -1))

    def places(self, tokens: Int[Tensor, "B T"]) -> Int[Tensor, "B T N"]:
        """Return the table's row for each n-gram; there is nothing before the first token."""
        found = []
        for order in self.orders:
            key = torch.full_like(tokens, order)
            for back in range(order):
                earlier = F.pad(tokens + 1, (back, 0))[:, : tokens.shape[1]]
                key = (key + earlier) * _signed(BASE)
            key = (key ^ (key >> 32)) * _signed(MIXER)
            found.append((key >> 20) % self.table.num_embeddings)
        return torch.stack(found, dim=-1)


def _signed(number: int) -> int:
    """Write a 64-bit number as torch's integers have it; their products wrap around."""
    return number - 2**64 if number >= 2**63 else number
