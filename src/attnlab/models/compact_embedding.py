"""A token embedding with only the rows that some text needs.

A row whose token never occurs has no gradient, so an optimizer without weight decay on tables never
moves it: leaving it out changes nothing but the order in which clipping sums squares, and saves
clearing, clipping and moving it in every step. A head that scores all tokens gives every row a
gradient; with one, the table stays whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.data.text_batches import TextRow


@dataclass(frozen=True)
class CompactEmbedding:
    """The ids of the tokens that occur, sorted."""

    ids: Int[np.ndarray, " N"]

    @classmethod
    def of(cls, *texts: Sequence[TextRow]) -> "CompactEmbedding":
        """Collect the tokens of all texts; 0, which pads, is always among them."""
        found = {0, *(token for rows in texts for row in rows for token in row.tokens)}
        return cls(np.array(sorted(found)))

    def renumbered(self, rows: Sequence[TextRow]) -> list[TextRow]:
        """Name the tokens of texts by their rows in the small table."""
        return [replace(row, tokens=np.searchsorted(self.ids, row.tokens).tolist()) for row in rows]

    def shrink(self, owner: nn.Module) -> Float[Tensor, "V D"]:
        """Take the other rows out of the table ``words`` of a module; return the whole table."""
        words = cast("nn.Embedding", owner.words)
        whole = words.weight.detach()
        owner.words = _like(words, whole[torch.from_numpy(self.ids)])
        return whole

    def grow(self, owner: nn.Module, whole: Float[Tensor, "V D"]) -> None:
        """Put the table back into the whole one, whose other rows are as they were."""
        words = cast("nn.Embedding", owner.words)
        learned = words.weight.detach()
        table = whole.to(learned, copy=True)
        table[torch.from_numpy(self.ids)] = learned
        owner.words = _like(words, table)


def _like(embedding: nn.Embedding, table: Float[Tensor, "N D"]) -> nn.Embedding:
    """Return an embedding of other rows, which is frozen if the old one is."""
    frozen = not embedding.weight.requires_grad
    return nn.Embedding(len(table), table.shape[1], _weight=table, _freeze=frozen)
