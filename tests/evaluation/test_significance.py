"""Paired tests against brute force, and the sizes of studies against simulation."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.evaluation.metrics import Metric, metric_called
from attnlab.evaluation.significance import (
    examples_needed,
    holm,
    mcnemar,
    smallest_difference,
    swap_rows,
)

Rows = Sequence[Mapping[str, Any]]
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


def every_swap(first: Rows, second: Rows, metric: Metric) -> float:
    """Swap the rows of two runs in all 2^n ways and score the tables again each time."""
    gaps = []
    for swaps in product((False, True), repeat=len(first)):
        pairs = zip(first, second, swaps, strict=True)
        one, two = zip(*((b, a) if swap else (a, b) for a, b, swap in pairs), strict=True)
        gaps.append(abs(metric.score(two) - metric.score(one)))
    return sum(gap >= gaps[0] - 1e-9 for gap in gaps) / len(gaps)


LABEL = st.sampled_from("abc")
ROW_PAIRS = st.lists(
    st.tuples(LABEL, LABEL, LABEL, st.integers(0, 9), st.integers(0, 9), st.integers(1, 3)),
    min_size=1,
    max_size=7,
)


@pytest.mark.parametrize("name", ["f1", "perplexity"])
@settings(deadline=None, max_examples=60)
@given(drawn=ROW_PAIRS)
def test_swapped_rows_equal_brute_force(name: str, drawn: list[tuple[Any, ...]]) -> None:
    first = [{"gold": g, "prediction": a, "loss": x, "tokens": n} for g, a, _, x, _, n in drawn]
    second = [{"gold": g, "prediction": b, "loss": y, "tokens": n} for g, _, b, _, y, n in drawn]
    metric = metric_called(name)
    p = swap_rows(*metric.features([first, second]), metric.finish)
    assert p == pytest.approx(every_swap(first, second, metric), abs=1e-12)


def test_many_swapped_rows_are_drawn_and_agree_with_mcnemar() -> None:
    """The accuracy of 300 answers, for which the exact p-value is known."""
    metric, dice = metric_called("accuracy"), np.random.default_rng(5)
    right = [dice.random(300) < share for share in (0.7, 0.76)]
    tables = [[{"gold": True, "prediction": bool(r)} for r in one] for one in right]
    p = swap_rows(*metric.features(tables), metric.finish)
    assert p == pytest.approx(mcnemar(*([bool(r) for r in one] for one in right)), abs=0.02)


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
