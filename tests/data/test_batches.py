"""Rows as batches: a pure function of rows, seed and step, and parts that make up the whole."""

from collections.abc import Sequence

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.batches import IGNORED, POOL, Batches, TokenBatch, TokenRow, collate, epoch_plan
from attnlab.errors import UserError


def make_rows(lengths: Sequence[int]) -> list[TokenRow]:
    """Rows whose tokens tell which row and place they come from."""
    return [TokenRow(f"row {i}", [100 * i + j for j in range(n)]) for i, n in enumerate(lengths)]


ROWS = make_rows([3, 7, 2, 5, 4, 9, 6])


def plan(n: int, *, batch_size: int = 3, seed: int = 0, epoch: int = 0) -> list[list[int]]:
    lengths = np.arange(n, dtype=np.int64) % 7 + 1
    batches = epoch_plan(lengths, batch_size=batch_size, seed=seed, epoch=epoch)
    return [batch.tolist() for batch in batches]


@hypothesis.settings(deadline=None)
@given(st.integers(1, 300), st.integers(1, 20), st.integers(0, 2**40), st.integers(0, 1000))
def test_an_epoch_holds_every_row_once(n: int, batch_size: int, seed: int, epoch: int) -> None:
    batches = plan(n, batch_size=batch_size, seed=seed, epoch=epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(n))
    sizes = sorted(len(batch) for batch in batches)
    assert sizes == sorted(
        [batch_size] * (n // batch_size) + [n % batch_size] * (n % batch_size > 0)
    )


def test_a_plan_is_pure_in_seed_and_epoch() -> None:
    assert plan(50, seed=3, epoch=2) == plan(50, seed=3, epoch=2)


def test_epochs_and_seeds_have_plans_of_their_own() -> None:
    plans = [plan(50, seed=seed, epoch=epoch) for seed in (0, 1) for epoch in (0, 1, 2)]
    assert all(a != b for i, a in enumerate(plans) for b in plans[:i])


def test_rows_of_a_batch_are_of_like_length() -> None:
    """Within a pool, lengths 1 to 8 × 8 in batches of 8 need no padding at all."""
    lengths = np.repeat(np.arange(1, 9), 8).astype(np.int64)
    batches = epoch_plan(lengths, batch_size=8, seed=0, epoch=0)
    assert len(batches) <= POOL
    assert all(len(set(lengths[batch].tolist())) == 1 for batch in batches)


def test_batches_do_not_come_in_the_order_of_length() -> None:
    """A model that always reads the short rows first would learn them last."""
    lengths = np.arange(60, dtype=np.int64)
    first = [int(lengths[b][0]) for b in epoch_plan(lengths, batch_size=3, seed=0, epoch=0)]
    assert sorted(first) not in (first, first[::-1])


def test_a_step_is_the_same_batch_whatever_was_asked_before() -> None:
    forwards, backwards = (Batches(ROWS, batch_size=3, seed=5) for _ in range(2))
    steps = range(1, 13)
    seen = {step: forwards.batch(step) for step in steps}
    for step in reversed(steps):
        again = backwards.batch(step)
        assert again.ids == seen[step].ids
        assert torch.equal(again.inputs, seen[step].inputs)
        assert torch.equal(again.targets, seen[step].targets)


def test_steps_go_through_whole_epochs() -> None:
    batches = Batches(ROWS, batch_size=3, seed=5)
    assert batches.per_epoch == 3
    for epoch in range(3):
        ids = [i for step in range(1, 4) for i in batches.batch(3 * epoch + step).ids]
        assert sorted(ids) == [row.id for row in ROWS]


def test_epochs_and_tokens_become_steps() -> None:
    batches = Batches(ROWS, batch_size=3, seed=5)
    assert batches.steps_in(2.5, "epochs") == 7.5
    read = sum(len(row.tokens) - 1 for row in ROWS)
    assert batches.steps_in(2 * read, "tokens") == 6


def test_no_rows_are_refused() -> None:
    with pytest.raises(UserError, match=r"^there is nothing to train on: the training set has no"):
        Batches([], batch_size=3, seed=0)


def test_targets_are_the_inputs_shifted_by_one() -> None:
    batch = collate([TokenRow("a", [5, 6, 7, 8]), TokenRow("b", [9, 4])])
    assert batch.ids == ["a", "b"]
    assert batch.inputs.tolist() == [[5, 6, 7], [9, 4, 0]]
    assert batch.targets.tolist() == [[6, 7, 8], [4, IGNORED, IGNORED]]
    assert batch.lengths.tolist() == [3, 1]
    assert batch.tokens == 4
    assert batch.weights == {"cross_entropy": 4.0}


def test_only_tokens_from_scored_from_on_are_scored() -> None:
    batch = collate([TokenRow("a", [5, 6, 7, 8], scored_from=3), TokenRow("b", [9, 4])])
    assert batch.targets.tolist() == [[IGNORED, IGNORED, 8], [4, IGNORED, IGNORED]]
    assert batch.weights == {"cross_entropy": 2.0}
    assert batch.tokens == 4


def put_together(parts: Sequence[TokenBatch]) -> TokenBatch:
    return TokenBatch(
        [name for part in parts for name in part.ids],
        torch.cat([part.inputs for part in parts]),
        torch.cat([part.targets for part in parts]),
        torch.cat([part.lengths for part in parts]),
    )


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 20])
def test_parts_put_together_are_the_batch(n: int) -> None:
    batch = collate(ROWS)
    parts = [batch.part(i, n) for i in range(n)]
    whole = put_together(parts)
    assert whole.ids == batch.ids
    for name in ("inputs", "targets", "lengths"):
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
    for name in ("inputs", "targets", "lengths"):
        tensor = getattr(moved, name)
        assert (tensor.device.type, tensor.shape) == ("meta", getattr(batch, name).shape)
