"""Paired tests against brute force, and the sizes of studies against simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.evaluation.paired import (
    examples_needed,
    holm,
    mcnemar,
    sign_flip,
    smallest_difference,
)

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=9)


@given(PAIRS)
def test_mcnemar_equals_flipping_every_pair_both_ways(pairs: list[tuple[bool, bool]]) -> None:
    """Under the null the two are exchangeable: all 2^n swaps are equally likely."""
    differences = [int(b) - int(a) for a, b in pairs]
    observed = abs(sum(differences))
    flips = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    expected = sum(flip >= observed for flip in flips) / len(flips)
    assert mcnemar(*zip(*pairs, strict=True)) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_sign_flips_equal_brute_force(differences: list[int]) -> None:
    observed = abs(sum(differences))
    flips = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    expected = sum(flip >= observed for flip in flips) / len(flips)
    assert sign_flip(differences) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_of_equal_answers_is_one() -> None:
    assert mcnemar([True, False], [True, False]) == 1.0


def test_mcnemar_looks_at_pairs_and_not_at_totals() -> None:
    """The mutant that compares the two shares alone gives both the same p-value."""
    together = mcnemar([True] * 5 + [False] * 5, [True] * 9 + [False])
    apart = mcnemar([True] * 5 + [False] * 5, [False] + [True] * 9)
    assert together < apart


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_the_raw_value_and_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    corrected = holm(p)
    for raw, new in zip(p, corrected, strict=True):
        assert raw <= new <= min(1.0, len(p) * raw) + 1e-12
    order = sorted(range(len(p)), key=lambda i: p[i])
    assert [corrected[i] for i in order] == sorted(corrected)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_the_number_needed_shows_the_difference_four_times_in_five() -> None:
    n = examples_needed(0.05, 0.2)
    assert n is not None
    dice = np.random.default_rng(0)
    better = dice.multinomial(n, [0.125, 0.075, 0.8], size=400)
    found = [mcnemar([False] * b + [True] * c, [True] * b + [False] * c) for b, c, _ in better]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.07)


def test_no_number_of_examples_shows_no_difference() -> None:
    assert examples_needed(0.0, 0.3) is None


@settings(deadline=None)
@given(st.integers(20, 5000), st.floats(0.02, 0.9))
def test_the_smallest_difference_needs_just_the_examples_there_are(n: int, apart: float) -> None:
    smallest = smallest_difference(n, apart)
    assert 0 < smallest <= 1
    needed = examples_needed(smallest, apart)
    assert needed is not None
    assert needed <= n
    slightly_less = examples_needed(0.98 * smallest, apart)
    assert slightly_less is not None
    assert slightly_less >= 0.99 * n or smallest > 0.5
