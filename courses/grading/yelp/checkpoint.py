"""The small BERT that every submission is run with, and what it reads.

All weights are drawn, those of the heads too, so that the scores of a submission are known.
"""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlab.data.wordpiece import SPECIAL
from attnlab.models.bert import BertForCLSMLM
from attnlab.models.bert_format import Pretrained, write_bert
from attnlab.models.sizes import BertSize

SIZE = BertSize(
    vocab_size=211,
    d_model=12,
    n_heads=3,
    n_layers=2,
    d_mlp=20,
    max_len=40,
    dropout=0.3,
    attention_dropout=0.2,
)
N_CLASSES = 5
SPREAD = 0.4
"""Of the weights: large enough for every part to show in the scores."""
PAD, CLS, SEP, MASK = 0, 2, 3, 4
ABSENT = 150
"""A token that no row has."""
ROWS = (
    [CLS, 20, 33, SEP, 47, 58, SEP],
    [CLS, 61, SEP, 72, SEP],
    [CLS, 85, 99, SEP],
)
CLASSES = (4, 0, 2)
HIDDEN = ((0, 2), (0, 4), (1, 1), (2, 2))
"""Row and place of the tokens that are hidden by [MASK]."""


class Inputs(NamedTuple):
    """A batch as a model reads it, and its labels: classes, or the tokens that are hidden."""

    ids: Tensor
    mask: Tensor
    types: Tensor
    labels: Tensor

    def data(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {name: tensor.tolist() for name, tensor in self._asdict().items()}


def labelled() -> Inputs:
    """Return texts, each with its class."""
    return Inputs(*_padded(), torch.tensor(CLASSES))


def masked() -> Inputs:
    """Return texts with some tokens hidden, which are their labels; -100 elsewhere."""
    ids, mask, types = _padded()
    labels = torch.full_like(ids, -100)
    for place in HIDDEN:
        labels[place] = ids[place]
        ids[place] = MASK
    return Inputs(ids, mask, types, labels)


def _padded() -> tuple[Tensor, Tensor, Tensor]:
    longest = max(map(len, ROWS))
    table = torch.zeros(3, len(ROWS), longest, dtype=torch.long)
    for i, row in enumerate(ROWS):
        first = row.index(SEP) + 1
        types = [0] * first + [1] * (len(row) - first)
        table[:, i, : len(row)] = torch.tensor([row, [1] * len(row), types])
    ids, mask, types_of_rows = table
    return ids, mask, types_of_rows


def write(folder: Path) -> None:
    """Write the model in the hub's layout, with a pooler, which the assignment does not use."""
    words = [*SPECIAL, *(f"word{i}" for i in range(SIZE.vocab_size - len(SPECIAL)))]
    with tempfile.TemporaryDirectory() as source:
        (Path(source) / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
        write_bert(_drawn(), Pretrained(SIZE, {}, Path(source), ""), folder)


@cache
def ours(*, pooler: bool = False) -> BertForCLSMLM:
    """Return it as a model of ours, without dropout and in float64."""
    model = _drawn().double().eval()
    if not pooler:
        model.body.pooler = None
    return model


def _drawn() -> BertForCLSMLM:
    model = BertForCLSMLM(SIZE, N_CLASSES, pooler=True)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale_of_norm = "norm" in name and name.endswith("weight")
            parameter.normal_(float(scale_of_norm), SPREAD, generator=generator)
    return model


def heads() -> dict[str, list[Any]]:
    """Return the weights of the heads by their shape, for layers under names of a student's own."""
    tensors = ours().state_dict()
    known = ("classifier.weight", "classifier.bias", "masked.bias")
    return {str(list(tensors[name].shape)): tensors[name].tolist() for name in known}
