"""Scores class by class, against scikit-learn's definitions written out and against plain draws."""

import numpy as np
import pytest

from attnlab.evaluation.bootstrap import Bootstrap
from attnlab.evaluation.confidence import calibration_curve, calibration_error
from attnlab.evaluation.intervals import wilson
from attnlab.evaluation.per_class import class_scores, confusion_matrix, surest_mistakes
from attnlab.runs.predictions import prediction_row

CLASSES = ["a", "b", "c", "d"]
PAIRS = ["aa", "aa", "aa", "ab", "ba", "bb", "bb", "ca", "cc", "cb", "aa"]
"""Gold and predicted class; there is no d."""


def rows_of(pairs: list[str]) -> list[dict[str, object]]:
    return [
        prediction_row(str(i), pair, gold=pair[0], prediction=pair[1], confidence=0.5 + 0.01 * i)
        for i, pair in enumerate(pairs)
    ]


def test_rows_are_gold_and_columns_predicted() -> None:
    assert confusion_matrix(rows_of(PAIRS), CLASSES) == [
        [4, 1, 0, 0],
        [1, 2, 0, 0],
        [1, 1, 1, 0],
        [0, 0, 0, 0],
    ]


def test_precision_and_recall_are_shares_with_wilsons_interval() -> None:
    a, b, c, d = class_scores(confusion_matrix(rows_of(PAIRS), CLASSES), CLASSES)
    assert (a.name, a.n, a.predicted) == ("a", 5, 6)
    assert a.precision
    assert a.precision.value == 4 / 6
    assert a.precision.interval == wilson(4, 6)
    assert a.recall
    assert (a.recall.value, a.recall.interval) == (4 / 5, wilson(4, 5))
    assert b.f1
    assert b.f1.value == pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3))
    assert c.precision
    assert c.precision.value == 1
    assert (d.precision, d.recall, d.f1) == (None, None, None)


def test_a_class_that_is_never_predicted_has_no_precision_and_one_without_examples_no_recall() -> (
    None
):
    never, always = class_scores(confusion_matrix(rows_of(["ab", "ab"]), ["a", "b"]), ["a", "b"])
    assert never.precision is None
    assert never.recall
    assert never.recall.value == 0
    assert always.recall is None
    assert always.precision
    assert always.precision.value == 0
    assert never.f1
    high = wilson(0, 2).high
    assert tuple(never.f1.interval) == (0, 2 * high / (1 + high)), "few examples prove little"


def test_the_interval_of_f1_is_that_of_drawing_whole_rows() -> None:
    pairs = PAIRS * 9
    (found, *_) = class_scores(confusion_matrix(rows_of(pairs), CLASSES), CLASSES)
    features = np.array([[2.0 * (p == "aa"), p.count("a")] for p in pairs])
    by_row = Bootstrap([features[None]], lambda sums: sums[..., 0] / sums[..., 1]).score(0)
    assert found.f1
    assert found.f1.value == pytest.approx(by_row.value)
    assert tuple(found.f1.interval) == pytest.approx(tuple(by_row.interval()), abs=0.01)


def test_the_surest_mistakes_come_first() -> None:
    found = surest_mistakes(rows_of(PAIRS), 3)
    assert [row["input"] for row in found] == ["cb", "ca", "ba"]
    assert surest_mistakes(rows_of(["aa"]), 3) == []


def test_the_calibration_curve_is_what_the_error_is_made_of() -> None:
    generator = np.random.default_rng(0)
    sure = generator.random(95)
    right = generator.random(95) < sure**2
    bins = calibration_curve(sure, right)
    assert sum(one.n for one in bins) == 95
    assert [one.confidence for one in bins] == sorted(one.confidence for one in bins)
    gaps = sum(one.n * abs(one.confidence - one.accuracy) for one in bins)
    assert gaps / 95 == pytest.approx(calibration_error(sure, right))
    assert all(one.interval.low <= one.accuracy <= one.interval.high for one in bins)
