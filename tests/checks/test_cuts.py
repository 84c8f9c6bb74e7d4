"""Cuts: everywhere if there is time; otherwise the telling ones first, for as long as allowed."""

from itertools import pairwise

import pytest

from attnlab.checks.cuts import LEAST_CUTS, Budget, all_cuts, most_telling_first

LENGTHS = [2, 7, 40, 128, 300]


class Time:
    """A clock that goes on only when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("n_tokens", [2, 7, 300])
def test_the_first_and_the_last_place_are_cut(n_tokens: int) -> None:
    cuts = all_cuts(n_tokens)
    assert cuts[0] == 1
    assert cuts[-1] == n_tokens - 1
    assert max((b - a for a, b in pairwise(cuts)), default=1) <= max(1, round(n_tokens / 100))
    assert set(range(32, n_tokens, 32)) <= set(cuts)


def test_one_token_has_no_future() -> None:
    with pytest.raises(AssertionError, match="one token has no future"):
        all_cuts(1)


@pytest.mark.parametrize("n_tokens", LENGTHS)
def test_every_cut_has_its_turn_once(n_tokens: int) -> None:
    cuts = all_cuts(n_tokens)
    assert sorted(most_telling_first(cuts)) == cuts


def test_both_ends_the_middle_and_the_ends_of_chunks_come_first() -> None:
    assert most_telling_first(all_cuts(128))[:8] == [1, 127, 64, 32, 16, 8, 4, 2]
    assert most_telling_first(all_cuts(300))[:7] == [1, 299, 154, 256, 128, 64, 32]
    assert most_telling_first(all_cuts(7)) == [1, 6, 4, 2, 5, 3]


@pytest.mark.parametrize("n_tokens", [40, 128, 300])
def test_half_of_the_cuts_leave_no_large_gap(n_tokens: int) -> None:
    cuts = all_cuts(n_tokens)
    half = sorted(most_telling_first(cuts)[: len(cuts) // 2])
    assert max(b - a for a, b in pairwise(half)) <= 5 * n_tokens / len(cuts)


@pytest.mark.parametrize(
    ("seconds", "taken"),
    [(0.0, LEAST_CUTS), (3.0, LEAST_CUTS), (7.0, 7), (7.9, 7), (1e9, 127)],
    ids=["no time", "less than the least cuts need", "to the end", "not beyond it", "for all"],
)
def test_cuts_are_taken_while_another_one_fits_in(seconds: float, taken: int) -> None:
    clock = Time()
    budget = Budget(seconds, clock)
    found = []
    for cut in budget.take(range(1, 128)):
        found.append(cut)
        clock.now += 1.0
    assert len(found) == taken
    assert budget.spent == taken


def test_what_was_spent_before_the_first_cut_counts() -> None:
    clock = Time()
    budget = Budget(10.0, clock)
    clock.now += 4.0
    assert budget.has(6.0)
    assert not budget.has(6.5)
    for _ in budget.take(range(1, 128)):
        clock.now += 1.0
    assert budget.spent == 10.0
