"""Span corruption, its properties one by one and its distribution.

The distributional tests compare n draws with what is expected; each fails by chance with the
probability that its docstring states, and never in practice, since the seed is fixed.
"""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data import span_corruption
from attnlab.data.span_corruption import corrupt, span_size

MARK = 1
N = 20_000


def apart(row: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Take prefix, span and suffix out of a row without a third mark."""
    first = row.index(MARK)
    second = row.index(MARK, first + 1)
    return row[:first], row[second + 1 :], row[first + 1 : second]


def document(length: int) -> list[int]:
    """A text whose every token is another, so that places can be told."""
    return list(range(2, 2 + length))


@given(
    length=st.integers(1, 300),
    block=st.integers(24, 256),
    closing=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_prefix_span_and_suffix_are_the_beginning_of_the_document(
    length: int, block: int, closing: bool, seed: int
) -> None:
    text = document(length)
    row = corrupt(text, np.random.default_rng(seed), block=block, mark=MARK, closing=closing)
    if closing:
        assert row.pop() == MARK
    prefix, span, suffix = apart(row)
    whole = prefix + span + suffix
    assert whole == text[: len(whole)]
    assert min(4, length, block * 7 // 8) <= len(whole) <= min(length, block * 7 // 8)
    assert span
    assert len(row) + closing <= block


def test_every_length_is_equally_likely() -> None:
    """Chi-squared over 25 lengths below its mean + 5 standard deviations: fails below 1e-5."""
    generator = np.random.default_rng(0)
    rows = (corrupt(document(100), generator, block=32, mark=MARK) for _ in range(N))
    counts = Counter(len(row) - 2 for row in rows)
    assert sorted(counts) == list(range(4, 29))
    expected = N / 25
    chi_squared = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_squared < 24 + 5 * math.sqrt(2 * 24)


def shares(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    rows = [corrupt(document(100), generator, block=128, mark=MARK) for _ in range(N)]
    parts = [apart(row) for row in rows]
    return np.array([len(span) / sum(map(len, (p, span, s))) for p, span, s in parts])


def check_a_quarter(found: np.ndarray) -> None:
    assert abs(found.mean() - 0.25) < 5 * found.std() / math.sqrt(N)


def test_the_span_has_a_quarter_on_average() -> None:
    """Five standard deviations of the mean: fails by chance with 5.7e-7."""
    check_a_quarter(shares(0))


@pytest.mark.parametrize("length", [4, 5, 6, 7, 50, 51])
def test_the_span_has_a_quarter_of_every_length(length: int) -> None:
    """Five standard deviations of the mean each: fails by chance with 6 × 5.7e-7."""
    generator = np.random.default_rng(1)
    sizes = np.array([span_size(length, generator) for _ in range(N)])
    assert abs(sizes.mean() - length / 4) <= 5 * sizes.std() / math.sqrt(N)


def test_a_quarter_of_the_whole_document_instead_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The usual mistake: the span's size is drawn from the length before the cut."""
    right = span_size
    monkeypatch.setattr(
        span_corruption, "span_size", lambda length, g: min(right(100, g), length - 1)
    )
    with pytest.raises(AssertionError):
        check_a_quarter(shares(0))


def test_every_place_of_a_span_is_equally_likely() -> None:
    """One of four tokens is taken out: chi-squared with 3 degrees, fails below 1e-3."""
    generator = np.random.default_rng(2)
    rows = [corrupt(document(4), generator, block=128, mark=MARK) for _ in range(N)]
    counts = Counter(row.index(MARK) for row in rows)
    assert sorted(counts) == [0, 1, 2, 3]
    expected = N / 4
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 3 + 5 * math.sqrt(6)


def test_a_short_document_stays_whole() -> None:
    for length in (1, 2, 3):
        row = corrupt(document(length), np.random.default_rng(3), block=128, mark=MARK)
        assert sorted(row) == [MARK, MARK, *document(length)]
