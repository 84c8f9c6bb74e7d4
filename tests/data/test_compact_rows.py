"""Compact rows are the rows that were put in, and take a few bytes per token."""

import numpy as np
import pytest

from attnlab.data.batches import TokenRow
from attnlab.data.compact_rows import CompactRows
from attnlab.data.epochs import Epochs, lengths_of, tokens_per_batch

ROWS = [[5, 6, 7], [65_535, 2], [9, 9, 9, 9, 1]]


def compact(vocab_size: int = 2**16) -> CompactRows:
    return CompactRows(iter(ROWS), vocab_size=vocab_size, title="document")


def test_every_row_comes_out_as_it_went_in() -> None:
    plain = [TokenRow(f"document {i}", row) for i, row in enumerate(ROWS, 1)]
    assert list(compact()) == plain
    assert (compact()[-1], compact()[1:]) == (plain[-1], plain[1:])
    with pytest.raises(IndexError):
        compact()[3]


def test_a_larger_vocabulary_has_room() -> None:
    rows = CompactRows([[70_000, 1]], vocab_size=2**16 + 1, title="row")
    assert rows[0].tokens == [70_000, 1]


def test_lengths_are_known_without_making_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    many = CompactRows(ROWS * 100, vocab_size=2**16, title="document")
    assert lengths_of(compact()).tolist() == [len(row) for row in compact()] == [2, 1, 4]
    made, original = [], CompactRows.__getitem__

    def counted(rows: CompactRows, index: int) -> TokenRow:
        made.append(index)
        return original(rows, index)

    monkeypatch.setattr(CompactRows, "__getitem__", counted)
    assert lengths_of(many).tolist() == [2, 1, 4] * 100
    assert len(made) < 10  # the tests' own type checks look at one


def test_batches_are_those_of_a_list() -> None:
    generator = np.random.default_rng(0)
    many = [generator.integers(0, 50, size=n).tolist() for n in generator.integers(2, 9, size=40)]
    rows = CompactRows(many, vocab_size=50, title="row")
    size = tokens_per_batch(30)
    first, second = (Epochs(lambda _, r=r: r, size=size, seed=1) for r in (rows, list(rows)))
    assert first.per_epoch == second.per_epoch
    for step in range(1, 2 * first.per_epoch):
        assert first.rows_of_step(step) == second.rows_of_step(step)
