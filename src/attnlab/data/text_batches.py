"""Batches for an encoder: texts with classes, and texts with masked tokens to predict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attnlab.data.batches import IGNORED
from attnlab.data.epochs import lengths_of


@dataclass(frozen=True)
class TextRow:
    """A text as an encoder reads it: ``[CLS] … [SEP]``, and what is to be said about it."""

    id: str
    tokens: Sequence[int]
    types: Sequence[int]
    targets: Sequence[int]
    """Its class alone, or a token for each place; ``IGNORED`` where nothing is to be said."""

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.tokens)


@dataclass(frozen=True)
class TextBatch:
    """Some texts, padded to the longest."""

    ids: Sequence[str]
    tokens: Int[Tensor, "B T"]
    types: Int[Tensor, "B T"]
    lengths: Int[Tensor, " B"]
    targets: Int[Tensor, "B t"]

    @cached_property
    def padding(self) -> Bool[Tensor, "B T"] | None:
        """True where there is a token; None if nothing is padded."""
        n_tokens = self.tokens.shape[1]
        if not len(self.ids) or int(self.lengths.min()) == n_tokens:
            return None
        return torch.arange(n_tokens, device=self.lengths.device) < self.lengths[:, None]

    @cached_property
    def weight(self) -> float:
        """How many targets there are."""
        return float((self.targets != IGNORED).sum())

    def rows(self, some: slice) -> "TextBatch":
        """Take some rows, without the padding that they do not need."""
        longest = int(self.lengths[some].max()) if len(self.ids[some]) else 0
        width = longest if self.targets.shape[1] > 1 else 1
        return TextBatch(
            self.ids[some],
            self.tokens[some, :longest],
            self.types[some, :longest],
            self.lengths[some],
            self.targets[some, :width],
        )

    def to(self, device: torch.device) -> "TextBatch":
        """Move the tensors."""
        tensors = (self.tokens, self.types, self.lengths, self.targets)
        return TextBatch(self.ids, *(tensor.to(device) for tensor in tensors))


@dataclass(frozen=True)
class JointBatch:
    """Texts by what is learned from them; implements ``training.task.Batch``."""

    streams: Mapping[str, TextBatch]

    @cached_property
    def ids(self) -> Sequence[str]:
        """Names of the texts, those of all streams by turns."""
        return [self.streams[name].ids[row] for name, row in self._order]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The number of targets in each stream."""
        return {name: batch.weight for name, batch in self.streams.items()}

    @cached_property
    def tokens(self) -> int:
        """Tokens without padding."""
        return sum(int(batch.lengths.sum()) for batch in self.streams.values())

    def part(self, index: int, of: int) -> "JointBatch":
        """Cut out a run of the texts as ``ids`` lists them; all parts together are the batch."""
        size = len(self._order)
        cut = self._order[index * size // of : (index + 1) * size // of]
        streams = {}
        for name, batch in self.streams.items():
            rows = [row for stream, row in cut if stream == name]
            streams[name] = batch.rows(slice(rows[0], rows[-1] + 1) if rows else slice(0))
        return JointBatch(streams)

    def to(self, device: torch.device) -> "JointBatch":
        """Move the tensors."""
        return JointBatch({name: batch.to(device) for name, batch in self.streams.items()})

    @cached_property
    def _order(self) -> list[tuple[str, int]]:
        """All texts, those of each stream spread evenly, so that every part gets of all."""
        places = [
            ((row + 0.5) / len(batch.ids), name, row)
            for name, batch in self.streams.items()
            for row in range(len(batch.ids))
        ]
        return [(name, row) for _, name, row in sorted(places)]


def collate_texts(rows: Sequence[TextRow]) -> TextBatch:
    """Pad rows to a rectangle."""
    lengths = lengths_of(rows)
    return TextBatch(
        [row.id for row in rows],
        _padded([row.tokens for row in rows], 0),
        _padded([row.types for row in rows], 0),
        torch.from_numpy(lengths),
        _padded([row.targets for row in rows], IGNORED),
    )


def _padded(rows: Sequence[Sequence[int]], value: int) -> Int[Tensor, "B T"]:
    sizes = np.array([len(row) for row in rows])
    there = np.arange(sizes.max()) < sizes[:, None]
    table = np.full(there.shape, value, dtype=np.int64)
    table[there] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return torch.from_numpy(table)
