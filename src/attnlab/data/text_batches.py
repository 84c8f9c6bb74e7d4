"""Batches for an encoder: texts with classes, and texts with masked tokens to predict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attnlab.data.batches import IGNORED, PaddedRows, padded


@dataclass(frozen=True)
class TextRow:
    """A text as an encoder reads it: ``[CLS] … [SEP]``, and what to predict about it."""

    id: str
    tokens: Sequence[int]
    types: Sequence[int]
    targets: Sequence[int]
    """One class, or one token per position; ``IGNORED`` where there is nothing to predict."""

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.tokens)


@dataclass(frozen=True)
class TextBatch(PaddedRows):
    """Texts for an encoder, and what to predict about them."""

    tokens: Int[Tensor, "B T"]
    types: Int[Tensor, "B T"]
    targets: Int[Tensor, "B t"]
    """One class per text, or one token per position."""

    def rows(self, some: slice) -> "TextBatch":
        """Take some rows, without the padding that they do not need."""
        longest = int(self.lengths[some].max()) if len(self.ids[some]) else 0
        width = longest if self.targets.shape[1] > 1 else 1
        return TextBatch(
            ids=self.ids[some],
            lengths=self.lengths[some],
            tokens=self.tokens[some, :longest],
            types=self.types[some, :longest],
            targets=self.targets[some, :width],
        )

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


@dataclass(frozen=True)
class JointBatch:
    """Texts by what is learned from them; implements ``training.task.Batch``."""

    streams: Mapping[str, TextBatch]
    measured: Mapping[str, str] = field(default_factory=dict)
    """Terms that are measured without being learned, each with the stream that it weighs as."""

    @cached_property
    def ids(self) -> Sequence[str]:
        """Ids of the texts, those of the streams interleaved."""
        return [self.streams[name].ids[row] for name, row in self._order]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The number of targets in each stream, and of what is measured on it."""
        weights = {name: batch.weight for name, batch in self.streams.items()}
        return weights | {name: weights[stream] for name, stream in self.measured.items()}

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
        return replace(self, streams=streams)

    def to(self, device: torch.device) -> "JointBatch":
        """Move the tensors."""
        moved = {name: batch.to(device) for name, batch in self.streams.items()}
        return replace(self, streams=moved)

    @cached_property
    def _order(self) -> list[tuple[str, int]]:
        """All texts, those of each stream spread evenly, so that every part gets some of each."""
        places = [
            ((row + 0.5) / len(batch.ids), name, row)
            for name, batch in self.streams.items()
            for row in range(len(batch.ids))
        ]
        return [(name, row) for _, name, row in sorted(places)]


def collate_texts(rows: Sequence[TextRow]) -> TextBatch:
    """Pad rows to a rectangle."""
    return TextBatch(
        ids=[row.id for row in rows],
        lengths=torch.tensor([len(row) for row in rows]),
        tokens=padded([row.tokens for row in rows]),
        types=padded([row.types for row in rows]),
        targets=padded([row.targets for row in rows], IGNORED),
    )
