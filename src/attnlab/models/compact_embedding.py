"""A token embedding with only the rows that some text needs.

A row whose token never occurs has no gradient, so an optimizer without weight decay on tables never
moves it: leaving it out changes nothing but the order in which clipping sums squares, and saves
clearing, clipping and moving it in every step. Tokens keep their numbers, so no other code has to
know. A head that scores all tokens gives every row a gradient; with one, the table stays whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
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

    def shrink(self, owner: nn.Module) -> Float[Tensor, "V D"]:
        """Take the other rows out of the table ``words`` of a module; return the whole table."""
        words = cast("nn.Embedding", owner.words)
        whole = words.weight.detach()
        owner.words = _frozen_like(words, CompactTable(whole, torch.from_numpy(self.ids)))
        return whole

    def grow(self, owner: nn.Module, whole: Float[Tensor, "V D"]) -> None:
        """Put the table back into the whole one, whose other rows are as they were."""
        words = cast("nn.Embedding", owner.words)
        learned = words.weight.detach()
        table = whole.to(learned, copy=True)
        table[torch.from_numpy(self.ids)] = learned
        owner.words = _frozen_like(words, nn.Embedding(len(table), table.shape[1], _weight=table))


def leave_out_unused(owner: nn.Module, *texts: Sequence[TextRow]) -> Callable[[], None]:
    """Keep only the tokens of these texts in a table, until what is returned is called."""
    used = CompactEmbedding.of(*texts)
    whole = used.shrink(owner)
    return lambda: used.grow(owner, whole)


class CompactTable(nn.Embedding):
    """Some rows of a table, looked up by their places in the whole one."""

    def __init__(self, whole: Float[Tensor, "V D"], ids: Int[Tensor, " N"]) -> None:
        super().__init__(len(ids), whole.shape[1], _weight=whole[ids])
        # a token that is not there points behind the table, which torch refuses
        places = torch.full((len(whole),), len(ids))
        places[ids] = torch.arange(len(ids))
        self.register_buffer("places", places, persistent=False)
        self.places: Tensor

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Look tokens up."""
        return F.embedding(self.places[tokens], self.weight)


def _frozen_like(old: nn.Embedding, new: nn.Embedding) -> nn.Embedding:
    """Freeze a table if the one whose place it takes is frozen."""
    new.weight.requires_grad_(old.weight.requires_grad)
    return new
