"""Rows as batches: a pure function of rows, seed and step, and parts that make up the whole."""

from collections.abc import Sequence

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.batches import IGNORED, TokenBatch, TokenRow, answer_row, collate
from attnlab.data.epochs import POOL, Epochs, epoch_plan, like_tokens, tokens_per_batch
from attnlab.errors import UserError


def make_rows(lengths: Sequence[int]) -> list[TokenRow]:
    """Rows whose tokens tell which row and place they come from; every third one only reads."""
    return [
        TokenRow(f"row {i}", [100 * i + j for j in range(n)], is_read_only=i % 3 == 1)
        for i, n in enumerate(lengths)
    ]


TENSORS = ("inputs", "targets", "lengths", "is_read_only")
ROWS = make_rows([3, 7, 2, 5, 4, 9, 6])


def plan(n: int, *, n_batches: int, seed: int = 0) -> list[list[int]]:
    lengths = np.arange(n, dtype=np.int64) % 7 + 1
    batches = epoch_plan(lengths, n_batches, generator=np.random.default_rng(seed), cut=like_tokens)
    return [batch.tolist() for batch in batches]


def make_epochs(*, batch_tokens: int = 10, seed: int = 5) -> Epochs[TokenRow]:
    """Three batches an epoch: the seven rows are read as 29 tokens."""
    return Epochs(lambda _: ROWS, size=tokens_per_batch(batch_tokens), seed=seed)


def ids_of_step(epochs: Epochs[TokenRow], step: int) -> list[str]:
    return [row.id for row in epochs.rows_of_step(step)]


@hypothesis.settings(deadline=None)
@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=150), st.floats(0, 1), st.integers(0, 2**40)
)
def test_an_epoch_holds_every_row_once_and_no_batch_is_empty(
    lengths: list[int], share: float, seed: int
) -> None:
    n_batches = max(1, round(share * len(lengths)))
    generator = np.random.default_rng(seed)
    batches = epoch_plan(
        np.array(lengths, dtype=np.int64), n_batches, generator=generator, cut=like_tokens
    )
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(lengths)))
    assert len(batches) == n_batches
    assert all(len(batch) for batch in batches)


@hypothesis.settings(deadline=None)
@given(
    st.lists(st.integers(5, 20), min_size=60, max_size=150),
    st.integers(1, 10),
    st.integers(0, 2**40),
)
def test_batches_of_a_pool_have_like_numbers_of_tokens(
    lengths: list[int], n_batches: int, seed: int
) -> None:
    """None has more than its share and one row."""
    array = np.array(lengths, dtype=np.int64)
    batches = epoch_plan(array, n_batches, generator=np.random.default_rng(seed), cut=like_tokens)
    assert max(array[b].sum() for b in batches) <= array.sum() / n_batches + max(lengths)


def test_a_plan_is_pure_in_its_generator() -> None:
    assert plan(50, n_batches=17, seed=3) == plan(50, n_batches=17, seed=3)
    assert plan(50, n_batches=17, seed=3) != plan(50, n_batches=17, seed=4)


def test_rows_of_a_batch_are_of_like_length() -> None:
    """Of 80 rows of 1 to 8 tokens in 10 batches; as they come, three quarters more are padding."""
    lengths = np.tile(np.arange(1, 9), 10).astype(np.int64)
    batches = epoch_plan(lengths, 10, generator=np.random.default_rng(0), cut=like_tokens)
    assert len(batches) <= POOL
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    assert padded < 1.2 * lengths.sum()


def test_batches_do_not_come_in_the_order_of_length() -> None:
    """A model that always reads the short rows first would learn them last."""
    lengths = np.arange(1, 61, dtype=np.int64)
    batches = epoch_plan(lengths, 20, generator=np.random.default_rng(0), cut=like_tokens)
    first = [int(lengths[b][0]) for b in batches]
    assert sorted(first) not in (first, first[::-1])


def test_a_step_is_the_same_batch_whatever_was_asked_before() -> None:
    forwards, backwards = make_epochs(), make_epochs()
    steps = range(1, 13)
    seen = {step: forwards.rows_of_step(step) for step in steps}
    for step in reversed(steps):
        assert backwards.rows_of_step(step) == seen[step]


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    rows = make_rows([2 + i % 5 for i in range(40)])
    orders = []
    for seed in (0, 1):
        epochs = Epochs(lambda _: rows, size=tokens_per_batch(20), seed=seed)
        for epoch in range(3):
            first = epoch * epochs.per_epoch + 1
            steps = range(first, first + epochs.per_epoch)
            orders.append(tuple(i for step in steps for i in ids_of_step(epochs, step)))
    assert len(set(orders)) == 6


def test_steps_go_through_whole_epochs() -> None:
    epochs = make_epochs()
    assert epochs.per_epoch == 3
    for epoch in range(3):
        ids = [i for step in range(1, 4) for i in ids_of_step(epochs, 3 * epoch + step)]
        assert sorted(ids) == [row.id for row in ROWS]


def test_each_epoch_has_rows_of_its_own() -> None:
    """Epochs are counted from 0, and one that was left is drawn again when it is asked for."""
    epochs = Epochs(
        lambda epoch: [TokenRow(f"{epoch}-{i}", [epoch, i, i]) for i in range(5)],
        size=tokens_per_batch(4),
        seed=2,
    )
    assert epochs.per_epoch == 3
    for step in (1, 4, 7, 10, 2):
        assert {name.partition("-")[0] for name in ids_of_step(epochs, step)} == {
            str((step - 1) // 3)
        }


def test_a_batch_that_no_row_fits_into_holds_one_row() -> None:
    epochs = make_epochs(batch_tokens=1)
    assert epochs.per_epoch == len(ROWS)
    assert [len(epochs.rows_of_step(step)) for step in range(1, 8)] == [1] * 7


def test_epochs_and_tokens_become_steps() -> None:
    epochs = make_epochs()
    assert epochs.steps_in(2.5, "epochs") == 7.5
    read = sum(len(row.tokens) - 1 for row in ROWS)
    assert epochs.tokens == read == 29
    assert epochs.steps_in(2 * read, "tokens") == 6


def test_no_rows_are_refused() -> None:
    with pytest.raises(UserError, match=r"^there is nothing to train on: the training set has no"):
        Epochs(lambda _: [], size=tokens_per_batch(3), seed=0)


def test_targets_are_the_inputs_shifted_by_one() -> None:
    batch = collate([TokenRow("a", [5, 6, 7, 8]), TokenRow("b", [9, 4])])
    assert batch.ids == ["a", "b"]
    assert batch.inputs.tolist() == [[5, 6, 7], [9, 4, 0]]
    assert batch.targets.tolist() == [[6, 7, 8], [4, IGNORED, IGNORED]]
    assert batch.lengths.tolist() == [3, 1]
    assert batch.tokens == 4
    assert batch.weights == {"cross_entropy": 4.0}


def test_only_the_tokens_said_are_scored() -> None:
    row = TokenRow("a", [5, 6, 7, 8], scored=[False, True, False, True])
    batch = collate([row, TokenRow("b", [9, 4])])
    assert batch.targets.tolist() == [[6, IGNORED, 8], [4, IGNORED, IGNORED]]
    assert batch.weights == {"cross_entropy": 3.0}
    assert batch.tokens == 4


def test_an_answer_row_is_scored_on_the_answer_alone() -> None:
    row = answer_row("a", [5, 6, 1], [7, 1], is_read_only=True)
    assert row == TokenRow("a", [5, 6, 1, 7, 1], [False] * 3 + [True] * 2, is_read_only=True)
    assert collate([row]).targets.tolist() == [[IGNORED, IGNORED, 7, 1]]
    assert not answer_row("a", [5], [7]).is_read_only


def test_a_batch_says_which_of_its_rows_only_read_the_memory() -> None:
    rows = [TokenRow(str(i), [i, i], is_read_only=i in (1, 4)) for i in range(5)]
    batch = collate(rows)
    assert batch.is_read_only.tolist() == [False, True, False, False, True]
    assert batch.part(1, 2).is_read_only.tolist() == [False, False, True]


def put_together(parts: Sequence[TokenBatch]) -> TokenBatch:
    return TokenBatch(
        [name for part in parts for name in part.ids],
        **{name: torch.cat([getattr(part, name) for part in parts]) for name in TENSORS},
    )


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 20])
def test_parts_put_together_are_the_batch(n: int) -> None:
    batch = collate(ROWS)
    parts = [batch.part(i, n) for i in range(n)]
    whole = put_together(parts)
    assert whole.ids == batch.ids
    for name in TENSORS:
        assert torch.equal(getattr(whole, name), getattr(batch, name))
    assert sum(part.weights["cross_entropy"] for part in parts) == batch.weights["cross_entropy"]
    assert sum(part.tokens for part in parts) == batch.tokens
    sizes = [len(part.ids) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(("ranks", "pieces"), [(2, 3), (3, 2), (4, 4)])
def test_a_part_of_parts_is_a_run_of_rows(ranks: int, pieces: int) -> None:
    """Cutting for processes and then for accumulation gives every row once, in order."""
    batch = collate(ROWS)
    parts = [batch.part(r, ranks).part(p, pieces) for r in range(ranks) for p in range(pieces)]
    assert [name for part in parts for name in part.ids] == list(batch.ids)


def test_moving_a_batch_changes_nothing_else() -> None:
    batch = collate(ROWS)
    moved = batch.to(torch.device("meta"))
    assert moved.ids == batch.ids
    for name in TENSORS:
        tensor = getattr(moved, name)
        assert (tensor.device.type, tensor.shape) == ("meta", getattr(batch, name).shape)


def test_the_largest_batch_is_the_one_with_most_tokens_after_padding() -> None:
    rows = [TokenRow(str(n), [1] * n) for n in (2, 2, 2, 2, 2, 2, 2, 9)]
    epochs = Epochs(lambda _: rows, size=tokens_per_batch(8), seed=0)
    batches = [epochs.rows_of_step(step) for step in range(1, epochs.per_epoch + 1)]
    assert len(batches) == 2
    largest = max(batches, key=lambda batch: len(batch) * max(map(len, batch)))
    assert [row.id for row in epochs.largest_batch()] == [row.id for row in largest]


@pytest.mark.parametrize(
    ("row", "by", "tokens", "scored"),
    [
        (TokenRow("a", [5, 6, 7]), 2, [0, 0, 5, 6, 7], [False, False, True, True, True]),
        (TokenRow("a", [5, 6], [False, True]), 1, [0, 5, 6], [False, False, True]),
        (TokenRow("a", [5, 6]), 0, [5, 6], None),
        (TokenRow("a", [5, 6]), -3, [5, 6], None),
    ],
)
def test_padding_before_a_row_is_not_scored(
    row: TokenRow, by: int, tokens: list[int], scored: list[bool] | None
) -> None:
    assert row.shifted(by, pad=0) == TokenRow("a", tokens, scored)
