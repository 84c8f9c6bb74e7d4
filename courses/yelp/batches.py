"""The rows of any Dataset by step: labelled texts, and unlabelled text with masked tokens.

An item of a Dataset is ``(input_ids, attention_mask, token_type_ids, label)``, padded at its end;
one of unlabelled text is ``input_ids``. A Dataset that has ``epoch_rows(epoch, seed)`` is read
without padding, texts of similar length together. Any other is read item by item, which is slower;
every step seeds torch, numpy and random first, so that it resumes exactly too.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab.data.dataset_items import DatasetItems, seed_everything
from attnlab.data.epochs import Epochs, rows_per_batch
from attnlab.data.text_batches import TextBatch, TextRow
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import ClassifySettings

MlmInputs = Callable[[Sequence[Tensor]], tuple[Tensor, Tensor]]
"""Masks rows of tokens: returns the inputs and their labels, padded."""


class ItemRows:
    """Rows of any Dataset by step, read item by item."""

    def __init__(self, items: DatasetItems, row_of: Callable[[Any, str], TextRow]) -> None:
        self._items, self._row_of = items, row_of

    def rows_of_step(self, step: int) -> list[TextRow]:
        """Return the rows of a step, counted from 1."""
        return [self._row_of(item, f"item {n}") for n, item in self._items.of_step(step).items()]

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs into steps."""
        assert unit == "epochs", "the commands count in epochs"
        return amount * self._items.per_epoch


def stream_of(
    dataset: Any,
    row_of: Callable[[Any, str], TextRow],
    settings: ClassifySettings,
    purpose: str = "order",
) -> Epochs[TextRow] | ItemRows:
    """Return the rows of a Dataset by step; ``purpose`` keys their random order."""
    size, seed = settings.batch_size, settings.training.seed
    if hasattr(dataset, "epoch_rows"):
        rows_of = partial(dataset.epoch_rows, seed=seed)
        return Epochs(rows_of, size=rows_per_batch(size), seed=seed, purpose=purpose)
    return ItemRows(DatasetItems(dataset, batch_size=size, seed=seed, purpose=purpose), row_of)


def text_row(item: Any, name: str) -> TextRow:
    """Take the padding off an item of labelled text."""
    if len(item) != 4:
        raise UserError(
            f"{name} of the Dataset has {len(item)} parts: it must have 4, input_ids,"
            " attention_mask, token_type_ids and label."
        )
    tokens, mask, types, label = (torch.as_tensor(part) for part in item)
    length = int(mask.sum())
    if not bool(mask[:length].all()):
        raise UserError(f"{name}: attention_mask has a 0 before a 1. Pad a text at its end.")
    return TextRow(name, tokens[:length].tolist(), types[:length].tolist(), [int(label)])


def unlabelled_row(item: Any, name: str) -> TextRow:
    """Return an item of unlabelled text, all of it tokens."""
    tokens = torch.as_tensor(item).tolist()
    return TextRow(f"unlabelled {name}", tokens, [0] * len(tokens), [])


def attention_mask(tokens: Tensor, padding: Tensor | None) -> Tensor:
    """Return 1 where there is a token and 0 where there is padding."""
    return torch.ones_like(tokens) if padding is None else padding.long()


class MaskedText:
    """Unlabelled text by step, with other tokens masked every time."""

    def __init__(self, rows: Any, mlm_inputs: MlmInputs, seed: int) -> None:
        self.rows, self._mlm_inputs, self._seed = rows, mlm_inputs, seed

    def batch(self, step: int) -> TextBatch:
        """Return the batch of a step; whatever the masking draws from is seeded before."""
        rows = self.rows.rows_of_step(step)
        seed_everything(self._seed, "masking", step)
        tokens, targets = self._mlm_inputs([torch.tensor(row.tokens) for row in rows])
        lengths = torch.tensor([len(row) for row in rows])
        wanted = len(rows), int(lengths.max())
        if tuple(tokens.shape) != wanted or tuple(targets.shape) != wanted:
            raise UserError(
                f"the MLM inputs have the shape {list(tokens.shape)} and their labels"
                f" {list(targets.shape)}: both must be {list(wanted)}, one row per text, padded to"
                " the longest."
            )
        return TextBatch(
            ids=[row.id for row in rows],
            lengths=lengths,
            tokens=tokens,
            types=torch.zeros_like(tokens),
            targets=targets,
        )
