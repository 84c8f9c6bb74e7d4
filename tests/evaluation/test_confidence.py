"""What a confidence is worth, against counting by hand and against simulated promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.evaluation.confidence import (
    Threshold,
    Thresholds,
    calibration_error,
    choose_thresholds,
    risk_coverage,
    roc_area,
    surest_half,
)

ANSWERS = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30)


def apart(answers: list[tuple[int, bool]]) -> tuple[list[float], list[bool]]:
    return [sure / 6 for sure, _ in answers], [is_right for _, is_right in answers]


@settings(deadline=None)  # the first one loads scipy
@given(ANSWERS)
def test_the_roc_area_is_the_share_of_pairs_in_the_right_order(
    answers: list[tuple[int, bool]],
) -> None:
    confidence, right = apart(answers)
    pairs = [
        1.0 if high > low else 0.5 if high == low else 0.0
        for high, is_right in zip(confidence, right, strict=True)
        for low, other in zip(confidence, right, strict=True)
        if is_right and not other
    ]
    area = roc_area(confidence, right)
    if not pairs:
        assert area is None
        return
    assert area is not None
    assert area.value == pytest.approx(np.mean(pairs), abs=1e-12)
    assert 0 <= area.interval.low <= area.value <= area.interval.high <= 1


def test_delongs_interval_holds_the_true_area_in_95_of_100_samples() -> None:
    """Normal scores one standard deviation apart: the area is Φ(1/√2) = 0.7602.

    400 samples; fewer than 92 % or more than 98 % hits would be 2.8 standard deviations off.
    """
    generator = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        right = generator.random(120) < 0.6
        area = roc_area(generator.normal(size=120) + right, right)
        assert area is not None
        hits += area.interval.low <= 0.7602 <= area.interval.high
    assert 0.92 <= hits / 400 <= 0.98


def test_a_signal_that_separates_everything_has_area_one() -> None:
    area = roc_area([0.1, 0.2, 0.8, 0.9], [False, False, True, True])
    assert area is not None
    assert area.value == 1
    assert area.interval == pytest.approx((0.158, 1), abs=1e-3), "two hits of two show little"
    wrong = roc_area([0.8, 0.9, 0.1, 0.2], [False, False, True, True])
    assert wrong is not None
    assert wrong.interval == pytest.approx((0, 0.842), abs=1e-3)
    alone = roc_area([0.1, 0.2, 0.3], [False, True, False])
    assert alone is not None
    assert alone.interval == (0, 1)


def test_risk_grows_as_less_sure_answers_are_given() -> None:
    curve = risk_coverage([0.9, 0.8, 0.2, 0.1], [True, True, False, False])
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert curve.risk.tolist() == pytest.approx([0, 0, 1 / 3, 0.5])
    assert curve.area == pytest.approx((1 / 3 + 0.5) / 4)


@settings(deadline=None)
@given(ANSWERS, st.randoms())
def test_equally_sure_answers_have_no_order(
    answers: list[tuple[int, bool]], random: object
) -> None:
    before = risk_coverage(*apart(answers))
    random.shuffle(answers)  # type: ignore[attr-defined]
    after = risk_coverage(*apart(answers))
    np.testing.assert_allclose(before.risk, after.risk, atol=1e-12)
    assert before.risk[-1] == pytest.approx(1 - np.mean([right for _, right in answers]))


def test_the_surer_half_is_judged_with_an_interval() -> None:
    half = surest_half([0.9, 0.8, 0.2, 0.1], [True, True, False, False])
    assert (half["n"], half["value"]) == (2, 1)
    assert half["interval"][0] < 1


def test_a_calibrated_confidence_has_a_small_error_and_an_overconfident_one_its_excess() -> None:
    generator = np.random.default_rng(1)
    confidence = generator.random(20_000)
    right = generator.random(20_000) < confidence
    assert calibration_error(confidence, right) < 0.02
    assert calibration_error([0.9] * 10, [True] * 5 + [False] * 5) == pytest.approx(0.4)


def test_a_thresholds_promise_is_broken_in_at_most_five_of_a_hundred_choices() -> None:
    """Sure answers are right in 97 of 100 cases, unsure ones in 40: below 0.43 90 % is broken.

    Of 300 choices at most 5 % may be broken; more than 9 % would be three standard deviations more.
    """
    generator = np.random.default_rng(2)
    chosen = []
    for _ in range(300):
        confidence = generator.random(400)
        right = generator.random(400) < np.where(confidence > 0.5, 0.97, 0.4)
        thresholds = choose_thresholds(confidence, right)
        if thresholds.retrieved:
            chosen.append(thresholds.retrieved.value)
    assert np.mean(np.array(chosen) < 0.43) < 0.09
    assert len(chosen) > 200, "a promise can be given"
    assert np.median(chosen) < 0.7, "and it is of use"


def test_without_evidence_there_is_no_promise() -> None:
    few = choose_thresholds([0.99] * 16, [True] * 16)
    assert few.retrieved is None
    enough = choose_thresholds([0.99] * 17, [True] * 17)
    assert enough.retrieved == Threshold(0.99, 0.8, 17, 1.0)
    wrong = choose_thresholds([0.99] * 100, [False] * 100)
    assert wrong.retrieved is None
    assert wrong.made_up is not None


def test_more_is_promised_on_many_people_than_on_few() -> None:
    promised = [choose_thresholds([0.99] * n, [True] * n).retrieved for n in (299, 300)]
    assert [one.promise for one in promised if one] == [0.8, 0.9]


def test_what_lies_between_the_thresholds_is_unsure() -> None:
    thresholds = Thresholds(Threshold(0.8, 0.9, 40, 0.95), Threshold(0.3, 0.5, 20, 0.8), 100)
    assert [thresholds.verdict(sure) for sure in (0.9, 0.8, 0.5, 0.3, 0.1)] == [
        "retrieved", "retrieved", "unsure", "made up", "made up",
    ]  # fmt: skip
    assert Thresholds(None, None, 10).verdict(0.99) == "unsure"
