"""Unlabelled text: how it is read, and how tokens are masked."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from attnlab.data.masking import block_rows, line_rows
from attnlab.data.masking import mask_tokens as mask_rows
from attnlab.data.text_batches import TextRow
from attnlab.data.text_files import read_lines
from attnlab.data.wordpiece import WordPiece


class LineByLineTextDataset(Dataset[Tensor]):
    """One row per line, cut to block_size tokens."""

    def __init__(self, tokenizer: WordPiece, file_path: str, block_size: int = 128) -> None:
        encoded = [tokenizer.encode(line) for line in read_lines(Path(file_path))]
        self.rows = line_rows(encoded, block=block_size, cls=tokenizer.cls, sep=tokenizer.sep)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.rows)

    def __getitem__(self, index: int) -> Tensor:
        """Return a row's tokens."""
        return torch.tensor(self.rows[index])

    def epoch_rows(self, epoch: int, seed: int) -> list[TextRow]:
        """Return every row: what the trainer reads instead, rows of similar length together."""
        del epoch, seed  # always the same rows; the trainer orders them
        return [
            TextRow(f"unlabelled row {number}", row, [0] * len(row), [])
            for number, row in enumerate(self.rows, 1)
        ]


class TextDataset(LineByLineTextDataset):
    """All lines joined, and cut into rows of block_size tokens."""

    def __init__(self, tokenizer: WordPiece, file_path: str, block_size: int = 128) -> None:
        encoded = [tokenizer.encode(line) for line in read_lines(Path(file_path))]
        self.rows = block_rows(encoded, block=block_size, cls=tokenizer.cls, sep=tokenizer.sep)


def mask_tokens(
    inputs: Sequence[Tensor], tokenizer: WordPiece, mlm_probability: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Return masked inputs and labels, padded; -100 where nothing is to be filled in.

    Every call chooses other tokens; torch.manual_seed makes them the same again.
    """
    seed = int(torch.randint(2**62, ()))
    tokens, targets = mask_rows(
        [row.tolist() for row in inputs],
        np.random.default_rng(seed),
        share=mlm_probability,
        mask_id=tokenizer.mask,
        vocab_size=len(tokenizer),
        special_ids=tokenizer.special_ids,
    )
    return _padded(tokens, tokenizer.pad), _padded(targets, -100)


def _padded(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=value)
