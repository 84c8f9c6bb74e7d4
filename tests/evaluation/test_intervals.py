"""Wilson's interval against its closed formula."""

import math

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from attnlab.evaluation.intervals import wilson


def closed_formula(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """Wilson 1927, solved for the share."""
    z, share = norm.ppf(0.5 + confidence / 2), hits / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


@hypothesis.settings(deadline=None)
@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.5, 0.999))
def test_the_interval_is_the_closed_formula(n: int, share: float, confidence: float) -> None:
    hits = round(share * n)
    low, high = closed_formula(hits, n, confidence)
    assert wilson(hits, n, confidence=confidence) == pytest.approx((low, high), abs=1e-12)


def test_the_usual_interval_is_that_of_95_percent() -> None:
    assert wilson(7, 12) == pytest.approx((0.3195113, 0.8067397), abs=1e-7)


@pytest.mark.parametrize("n", [1, 12, 3000])
def test_none_and_all_right_end_exactly_at_the_border(n: int) -> None:
    none, every = wilson(0, n), wilson(n, n)
    assert none.low == 0.0
    assert every.high == 1.0
    assert 0 < none.high < 1
    assert every.low == pytest.approx(1 - none.high, abs=1e-12)


@hypothesis.settings(deadline=None)
@given(st.integers(1, 10**4), st.floats(0, 1))
def test_the_interval_holds_the_share_and_mirrors(n: int, share: float) -> None:
    hits = round(share * n)
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    assert wilson(n - hits, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(4, 3), (-1, 3)])
def test_impossible_counts_are_refused(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match=r"^k .*must|^k must be"):
        wilson(hits, n)
