"""Labelled texts: how they are read, and how a model sees them."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import Dataset

from attnlab.assets.models import find_model
from attnlab.data.classes import check_labels, class_names
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.text_batches import TextRow
from attnlab.data.wordpiece import WordPiece
from attnlab.models.bert_format import is_lowercase

IGNORED = -100
"""The label of a text whose class is not known."""


def load_tokenizer(model: str) -> WordPiece:
    """Read the vocab.txt of a folder, or of a model on the hub."""
    folder = find_model(model)
    return WordPiece.read(folder / "vocab.txt", lowercase=is_lowercase(folder))


def load_examples(
    path: str,
    classes: Sequence[str] = (),
    *,
    labelled: bool = True,
    columns: Sequence[str] = (),
) -> tuple[list[Example], list[str]]:
    """Read a .csv, .tsv or .jsonl file, and its classes unless they are given.

    ``labelled`` insists on labels. ``columns`` says what the columns are, if neither a header nor
    their number does.
    """
    examples = read_labelled(Path(path), labelled=labelled, columns=columns)
    known = list(classes) or class_names(examples)
    check_labels(examples, known)
    return examples, known


class TextClassificationDataset(Dataset[tuple[Tensor, ...]]):
    """Texts as ``(input_ids, attention_mask, token_type_ids, label)``, padded to one length."""

    def __init__(self, rows: Sequence[TextRow], max_seq_length: int) -> None:
        self.rows, self.max_seq_length = rows, max_seq_length

    def __len__(self) -> int:
        """Count the texts."""
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        """Return a text; the mask is 1 where there is a token and 0 where there is padding."""
        row = self.rows[index]
        table = torch.zeros(3, self.max_seq_length, dtype=torch.long)
        table[:, : len(row)] = torch.tensor([row.tokens, [1] * len(row), row.types])
        return *table, torch.tensor(row.targets[0])

    def epoch_rows(self, epoch: int, seed: int) -> Sequence[TextRow]:
        """Return every text without padding: what the trainer reads instead."""
        del epoch, seed  # always the same rows; the trainer orders them
        return self.rows


def convert_examples_to_features(
    examples: Sequence[Example],
    classes: Sequence[str],
    tokenizer: WordPiece,
    max_seq_length: int = 128,
) -> TextClassificationDataset:
    """Cut texts into tokens: ``[CLS] text [SEP]``, at most max_seq_length of them."""
    rows = []
    for example in examples:
        pair = None if example.pair is None else tokenizer.encode(example.pair)
        tokens, types = tokenizer.pair(tokenizer.encode(example.text), pair, max_len=max_seq_length)
        label = IGNORED if example.label is None else classes.index(example.label)
        rows.append(TextRow(example.id, tokens, types, [label]))
    return TextClassificationDataset(rows, max_seq_length)
