"""Texts as batches: padded to the longest, cut into parts that make up the whole."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.batches import IGNORED
from attnlab.data.epochs import Epochs, rows_per_batch
from attnlab.data.text_batches import JointBatch, TextBatch, TextRow, collate_texts
from attnlab.errors import UserError


def labelled(lengths: Sequence[int]) -> list[TextRow]:
    return [
        TextRow(f"text {i}", [100 * i + j for j in range(n)], [j % 2 for j in range(n)], [i % 5])
        for i, n in enumerate(lengths)
    ]


def masked(lengths: Sequence[int]) -> list[TextRow]:
    return [
        TextRow(
            f"line {i}",
            [100 * i + j for j in range(n)],
            [0] * n,
            [7 if j % 3 == 1 else IGNORED for j in range(n)],
        )
        for i, n in enumerate(lengths)
    ]


def joint(first: Sequence[int], second: Sequence[int]) -> JointBatch:
    return JointBatch(
        {"classes": collate_texts(labelled(first)), "masked": collate_texts(masked(second))}
    )


def test_rows_are_padded_to_the_longest() -> None:
    batch = collate_texts(labelled([2, 4]))
    assert batch.tokens.tolist() == [[0, 1, 0, 0], [100, 101, 102, 103]]
    assert batch.types.tolist() == [[0, 1, 0, 0], [0, 1, 0, 1]]
    assert batch.targets.tolist() == [[0], [1]]
    assert batch.padding is not None
    assert batch.padding.tolist() == [[True, True, False, False], [True] * 4]


def test_a_batch_without_padding_has_no_mask() -> None:
    assert collate_texts(labelled([3, 3])).padding is None


def test_targets_of_masked_rows_are_padded_with_what_does_not_count() -> None:
    batch = collate_texts(masked([2, 5]))
    assert batch.targets.tolist() == [
        [IGNORED, 7, IGNORED, IGNORED, IGNORED],
        [IGNORED, 7, IGNORED, IGNORED, 7],
    ]
    assert batch.weight == 3


@given(
    st.lists(st.integers(2, 9), min_size=1, max_size=9),
    st.lists(st.integers(2, 9), min_size=1, max_size=9),
    st.integers(1, 20),
)
def test_all_parts_together_are_the_batch(first: list[int], second: list[int], count: int) -> None:
    batch = joint(first, second)
    parts = [batch.part(i, count) for i in range(count)]
    size = len(batch.ids)
    for i, part in enumerate(parts):
        wanted = batch.ids[i * size // count : (i + 1) * size // count]
        assert sorted(part.ids) == sorted(wanted)
    assert sum(part.tokens for part in parts) == batch.tokens == sum(first) + sum(second)
    for name in batch.weights:
        assert sum(part.weights[name] for part in parts) == batch.weights[name]
    for name, whole in batch.streams.items():
        rows = [row for part in parts for row in _rows(part.streams[name])]
        assert rows == _rows(whole)


def _rows(batch: TextBatch) -> list[tuple[list[int], list[int]]]:
    """Return each row's tokens and targets without padding."""
    wide = batch.targets.shape[1] > 1
    return [
        (batch.tokens[i, :n].tolist(), batch.targets[i, : n if wide else 1].tolist())
        for i, n in enumerate(batch.lengths.tolist())
    ]


def test_a_part_has_no_more_padding_than_it_needs() -> None:
    batch = joint([2, 2, 9, 9], [3, 3, 8, 8])
    first = batch.part(0, 2)
    assert first.streams["classes"].tokens.shape == (2, 2)
    assert first.streams["masked"].tokens.shape == (2, 3)
    assert first.streams["masked"].targets.shape == (2, 3)


def test_every_half_gets_of_both_streams() -> None:
    for part in (joint([5] * 8, [5] * 8).part(i, 2) for i in range(2)):
        assert [len(stream.ids) for stream in part.streams.values()] == [4, 4]


def test_one_text_a_part_is_named_by_its_id() -> None:
    """What the loop does to find the text that makes a loss infinite."""
    batch = joint([3] * 5, [4] * 7)
    for i, name in enumerate(batch.ids):
        assert list(batch.part(i, len(batch.ids)).ids) == [name]


def test_batches_have_like_numbers_of_rows_and_an_epoch_has_every_row_once() -> None:
    rows = labelled([2 + i % 7 for i in range(65)])
    epochs = Epochs(lambda _: rows, size=rows_per_batch(32), seed=3)
    assert epochs.per_epoch == 3
    drawn = [epochs.rows_of_step(step) for step in (1, 2, 3)]
    assert sorted(len(batch) for batch in drawn) == [21, 22, 22]
    assert sorted(row.id for batch in drawn for row in batch) == sorted(row.id for row in rows)
    assert epochs.rows_of_step(4) != drawn[0]
    assert [row.id for row in epochs.rows_of_step(2)] == [row.id for row in drawn[1]]


def test_rows_of_like_length_stand_together() -> None:
    rows = labelled([3] * 40 + [90] * 40)
    epochs = Epochs(lambda _: rows, size=rows_per_batch(20), seed=0)
    padded = [collate_texts(epochs.rows_of_step(step)).padding is not None for step in range(1, 5)]
    assert not any(padded)


def test_nothing_to_train_on_is_refused() -> None:
    with pytest.raises(UserError, match="the training set has no rows"):
        Epochs(lambda _: [], size=rows_per_batch(2), seed=0)


def test_moving_a_batch_keeps_it() -> None:
    batch = joint([2, 5], [4, 3]).to(torch.device("cpu"))
    assert batch.tokens == 14
