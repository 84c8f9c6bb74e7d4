"""Rows of tokens as batches: a pure function of the rows, the seed and the step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attnlab.data.epochs import Epochs, lengths_of, tokens_a_batch

IGNORED = -100  # what cross_entropy skips


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


def answer_row(
    id: str, prompt: Sequence[int], answer: Sequence[int], *, is_read_only: bool = False
) -> TokenRow:
    """Return a row that is scored on the answer alone."""
    scored = [False] * len(prompt) + [True] * len(answer)
    return TokenRow(id, [*prompt, *answer], scored, is_read_only)


@dataclass(frozen=True)
class TokenBatch:
    """Some rows, padded to the longest; implements ``training.task.Batch``."""

    ids: Sequence[str]
    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]
    lengths: Int[Tensor, " B"]
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
        return type(self)(self.ids[rows], *(tensor[rows] for tensor in self._tensors))

    def to(self, device: torch.device) -> "TokenBatch":
        """Move the tensors."""
        return type(self)(self.ids, *(tensor.to(device) for tensor in self._tensors))

    @property
    def _tensors(self) -> tuple[Tensor, ...]:
        return self.inputs, self.targets, self.lengths, self.is_read_only


class Batches:
    """All batches of a training set, by step; an epoch may draw its rows afresh."""

    def __init__(
        self, rows_of: Callable[[int], Sequence[TokenRow]], *, batch_tokens: int, seed: int
    ) -> None:
        """Take the rows of each epoch, counted from 0, and about how many tokens make a batch."""
        size = tokens_a_batch(batch_tokens)
        self.epochs = Epochs(rows_of, size=size, seed=seed, purpose="order")

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step, counted from 1."""
        return collate(self.epochs.rows_of_step(step))

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens into steps."""
        return self.epochs.steps_in(amount, unit)


def collate(rows: Sequence[TokenRow]) -> TokenBatch:
    """Pad rows to a rectangle; targets are the inputs shifted by one."""
    sizes = lengths_of(rows) + 1
    there = np.arange(sizes.max()) < sizes[:, None]
    tokens = np.zeros(there.shape, dtype=np.int64)
    tokens[there] = np.fromiter(chain.from_iterable(row.tokens for row in rows), np.int64)
    scored = there.copy()
    for i, row in enumerate(rows):
        if row.scored is not None:
            scored[i, : sizes[i]] = row.scored
    targets = np.where(scored, tokens, IGNORED)
    return TokenBatch(
        [row.id for row in rows],
        torch.from_numpy(tokens[:, :-1]),
        torch.from_numpy(targets[:, 1:]),
        torch.from_numpy(sizes - 1),
        torch.tensor([row.is_read_only for row in rows]),
    )
