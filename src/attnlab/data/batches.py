"""Rows of tokens as batches: a pure function of the rows, the seed and the step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from jaxtyping import Int
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
    scored_from: int = 1
    """Index of the first scored token; the first token of all cannot be predicted."""


@dataclass(frozen=True)
class TokenBatch:
    """Some rows, padded to the longest; implements ``training.task.Batch``."""

    ids: Sequence[str]
    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]
    lengths: Int[Tensor, " B"]

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
        return type(self)(self.ids[rows], self.inputs[rows], self.targets[rows], self.lengths[rows])

    def to(self, device: torch.device) -> "TokenBatch":
        """Move the tensors."""
        return type(self)(
            self.ids, self.inputs.to(device), self.targets.to(device), self.lengths.to(device)
        )


class Batches:
    """All batches of a training set, by step."""

    def __init__(self, rows: Sequence[TokenRow], *, batch_size: int, seed: int) -> None:
        if not rows:
            raise UserError("there is nothing to train on: the training set has no rows.")
        self.rows, self.batch_size, self.seed = rows, batch_size, seed
        self.lengths = np.array([len(row.tokens) - 1 for row in rows])
        self.per_epoch = -(-len(rows) // batch_size)
        self._plan = lru_cache(maxsize=2)(self._make_plan)

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step, counted from 1."""
        epoch, index = divmod(step - 1, self.per_epoch)
        return collate([self.rows[i] for i in self._plan(epoch)[index]])

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens into steps."""
        epochs = amount if unit == "epochs" else amount / float(self.lengths.sum())
        return epochs * self.per_epoch

    def _make_plan(self, epoch: int) -> list[NDArray[np.int64]]:
        return epoch_plan(self.lengths, batch_size=self.batch_size, seed=self.seed, epoch=epoch)


def epoch_plan(
    lengths: NDArray[np.int64], *, batch_size: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Say which rows stand in which batch of an epoch, every row once.

    Rows of like length come together, so that little is padded: permute, sort by length within
    pools, cut into batches, permute the batches.
    """
    generator = rng(seed, "order", epoch)
    order = generator.permutation(len(lengths))
    pools = np.split(order, range(POOL * batch_size, len(order), POOL * batch_size))
    by_length = np.concatenate([pool[np.argsort(lengths[pool], kind="stable")] for pool in pools])
    batches = np.split(by_length, range(batch_size, len(order), batch_size))
    return [batches[i] for i in generator.permutation(len(batches))]


def collate(rows: Sequence[TokenRow]) -> TokenBatch:
    """Pad rows to a rectangle; targets are the inputs shifted by one."""
    longest = max(len(row.tokens) for row in rows)
    tokens = np.zeros((len(rows), longest), dtype=np.int64)
    scored = np.zeros((len(rows), longest), dtype=np.bool_)
    for i, row in enumerate(rows):
        tokens[i, : len(row.tokens)] = row.tokens
        scored[i, row.scored_from : len(row.tokens)] = True
    targets = np.where(scored, tokens, IGNORED)
    lengths = np.array([len(row.tokens) - 1 for row in rows])
    return TokenBatch(
        [row.id for row in rows],
        torch.from_numpy(tokens[:, :-1]),
        torch.from_numpy(targets[:, 1:]),
        torch.from_numpy(lengths),
    )
