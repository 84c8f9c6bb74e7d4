"""Labelled texts as tensors: what the assignment's training code loads for classification."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from attnlab.assets.models import find_model
from attnlab.data.classes import check_labels, class_names
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.wordpiece import WordPiece
from attnlab.models.bert_format import is_lowercase


def load_tokenizer(model: str) -> WordPiece:
    """Read the vocab.txt of a folder, or of a model on the hub."""
    folder = find_model(model)
    return WordPiece.read(folder / "vocab.txt", lowercase=is_lowercase(folder))


def load_examples(path: str, classes: Sequence[str] = ()) -> tuple[list[Example], list[str]]:
    """Read a .csv, .tsv or .jsonl file, and its classes unless they are given."""
    examples = read_labelled(Path(path), labelled=True)
    known = list(classes) or class_names(examples)
    check_labels(examples, known)
    return examples, known


def convert_examples_to_features(
    examples: Sequence[Example],
    classes: Sequence[str],
    tokenizer: WordPiece,
    max_seq_length: int = 128,
) -> TensorDataset:
    """Return input_ids, attention_mask, token_type_ids and labels, padded to max_seq_length."""
    table = torch.zeros(3, len(examples), max_seq_length, dtype=torch.long)
    for i, example in enumerate(examples):
        pair = None if example.pair is None else tokenizer.encode(example.pair)
        tokens, types = tokenizer.pair(tokenizer.encode(example.text), pair, max_len=max_seq_length)
        rows = (tokens, [1] * len(tokens), types)
        table[:, i, : len(tokens)] = torch.tensor(rows)
    labels = torch.tensor([classes.index(str(example.label)) for example in examples])
    return TensorDataset(*table, labels)


def loader(
    dataset: TensorDataset, batch_size: int, seed: int = 0
) -> "DataLoader[tuple[Tensor, ...]]":
    """Return the batches of an epoch in random order."""
    order = torch.Generator().manual_seed(seed)
    return DataLoader(dataset, batch_size=batch_size, shuffle=True, generator=order)
