"""Rows of tokens for a language model, and the batches they are padded into."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

IGNORED = -100
"""The target that ``cross_entropy`` skips."""
Rows = TypeVar("Rows", bound="PaddedRows")


@dataclass(frozen=True)
class TokenRow:
    """One example: its tokens, and which of them the model is scored on."""

    id: str
    tokens: Sequence[int]
    scored: Sequence[bool] | None = None
    """Whether each token is scored; None: all but the first, which nothing precedes."""
    is_read_only: bool = False
    """Whether the row leaves a model's n-gram table as it is, and only teaches how to read it."""

    def __len__(self) -> int:
        """Count the tokens that a model reads: all but the last."""
        return len(self.tokens) - 1

    @property
    def n_scored(self) -> int:
        """Count the tokens that the model is scored on."""
        return len(self) if self.scored is None else sum(self.scored)

    def shifted(self, by: int, *, pad: int) -> "TokenRow":
        """Return the row with padding before it, which is not scored."""
        if by <= 0:
            return self
        scored = [True] * len(self.tokens) if self.scored is None else self.scored
        tokens = [pad] * by + list(self.tokens)
        return replace(self, tokens=tokens, scored=[False] * by + list(scored))


def answer_row(
    id: str, prompt: Sequence[int], answer: Sequence[int], *, is_read_only: bool = False
) -> TokenRow:
    """Return a row that is scored on the answer alone."""
    scored = [False] * len(prompt) + [True] * len(answer)
    return TokenRow(id, [*prompt, *answer], scored, is_read_only)


@dataclass(frozen=True)
class PaddedRows:
    """What every batch has: the rows' ids, and how many tokens of each are not padding."""

    ids: Sequence[str]
    lengths: Int[Tensor, " B"]

    def with_tensors(self: Rows, change: Callable[[Tensor], Tensor], *, ids: Sequence[str]) -> Rows:
        """Return a copy with every tensor changed in the same way."""
        names = [field.name for field in fields(self) if field.name != "ids"]
        changed = {name: change(getattr(self, name)) for name in names}
        return replace(self, ids=ids, **changed)

    def to(self: Rows, device: torch.device) -> Rows:
        """Move the tensors."""
        return self.with_tensors(lambda tensor: tensor.to(device), ids=self.ids)


@dataclass(frozen=True)
class TokenBatch(PaddedRows):
    """Rows to predict the next token of; implements ``training.task.Batch``."""

    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]
    is_read_only: Bool[Tensor, " B"]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The number of scored tokens."""
        return {"cross_entropy": float((self.targets != IGNORED).sum())}

    @cached_property
    def tokens(self) -> int:
        """Tokens without padding."""
        return int(self.lengths.sum())

    def part(self, index: int, of: int) -> "TokenBatch":
        """Cut out a run of rows; all parts together are the batch."""
        size = len(self.ids)
        rows = slice(index * size // of, (index + 1) * size // of)
        return self.with_tensors(lambda tensor: tensor[rows], ids=self.ids[rows])


def collate(rows: Sequence[TokenRow]) -> TokenBatch:
    """Pad rows to a rectangle; targets are the inputs shifted by one."""
    tokens = padded([row.tokens for row in rows])
    scored = padded([row.scored or [True] * len(row.tokens) for row in rows])
    return TokenBatch(
        ids=[row.id for row in rows],
        lengths=torch.tensor([len(row) for row in rows]),
        inputs=tokens[:, :-1],
        targets=torch.where(scored.bool(), tokens, IGNORED)[:, 1:],
        is_read_only=torch.tensor([row.is_read_only for row in rows]),
    )


def padded(rows: Sequence[Sequence[int]], value: int = 0) -> Int[Tensor, "B T"]:
    """Fill every row up to the longest with ``value``."""
    sizes = np.array([len(row) for row in rows])
    there = np.arange(sizes.max()) < sizes[:, None]
    table = np.full(there.shape, value, dtype=np.int64)
    table[there] = np.fromiter(chain.from_iterable(rows), np.int64)
    return torch.from_numpy(table)
