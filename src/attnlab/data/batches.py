"""Rows of tokens as batches: a pure function of the rows, the seed and the step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from attnlab.errors import UserError
from attnlab.training.randomness import rng

IGNORED = -100  # what cross_entropy skips
POOL = 32  # batches that are sorted by length together


@dataclass(frozen=True)
class TokenRow:
    """One example: its tokens, and which of them the model is scored on."""

    id: str
    tokens: Sequence[int]
    scored: Sequence[bool] | None = None
    """Whether each token is scored; None: all but the first, which nothing precedes."""
    is_read_only: bool = False
    """Whether the row leaves a model's memory as it is, and only teaches how to read it."""


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
        self.seed = seed
        self.rows = lru_cache(maxsize=2)(rows_of)
        self._plan = lru_cache(maxsize=2)(self._make_plan)
        first = self.rows(0)
        if not first:
            raise UserError("there is nothing to train on: the training set has no rows.")
        self.epoch_tokens = int(_lengths(first).sum())
        # Every epoch has as many batches as the first, so that a step knows its epoch.
        self.per_epoch = min(len(first), -(-self.epoch_tokens // batch_tokens))

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step, counted from 1."""
        epoch, index = divmod(step - 1, self.per_epoch)
        rows = self.rows(epoch)
        return collate([rows[i] for i in self._plan(epoch)[index]])

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens into steps."""
        epochs = amount if unit == "epochs" else amount / self.epoch_tokens
        return epochs * self.per_epoch

    def _make_plan(self, epoch: int) -> list[NDArray[np.int64]]:
        generator = rng(self.seed, "order", epoch)
        return epoch_plan(_lengths(self.rows(epoch)), self.per_epoch, generator=generator)


def epoch_plan(
    lengths: NDArray[np.int64], n_batches: int, *, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Say which rows stand in which batch of an epoch, every row once.

    Rows of like length come together, so that little is padded, and batches have like numbers of
    tokens: permute, sort by length within pools, cut, permute the batches.
    """
    assert n_batches <= len(lengths), "every batch needs a row"
    order = generator.permutation(len(lengths))
    batches: list[NDArray[np.int64]] = []
    for share in np.array_split(np.arange(n_batches), -(-n_batches // POOL)):
        begin, end = (len(order) * edge // n_batches for edge in (share[0], share[-1] + 1))
        pool = order[begin:end]
        batches += _cut(pool[np.argsort(lengths[pool], kind="stable")], lengths, len(share))
    return [batches[i] for i in generator.permutation(n_batches)]


def _cut(
    rows: NDArray[np.int64], lengths: NDArray[np.int64], n_batches: int
) -> list[NDArray[np.int64]]:
    """Cut sorted rows where the tokens so far reach the next share; no batch stays empty."""
    so_far = np.cumsum(lengths[rows])
    numbers = np.arange(1, n_batches)
    cuts = np.searchsorted(so_far, so_far[-1] * numbers / n_batches, side="right")
    cuts = np.minimum(cuts, len(rows) - n_batches + numbers)
    cuts = np.maximum.accumulate(np.maximum(cuts, numbers) - numbers) + numbers
    return np.split(rows, cuts)


def collate(rows: Sequence[TokenRow]) -> TokenBatch:
    """Pad rows to a rectangle; targets are the inputs shifted by one."""
    sizes = _lengths(rows) + 1
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


def _lengths(rows: Sequence[TokenRow]) -> NDArray[np.int64]:
    """Count the tokens that a model reads of each row: all but the last."""
    return np.array([len(row.tokens) - 1 for row in rows], dtype=np.int64)
