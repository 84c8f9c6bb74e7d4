"""Metrics as functions of the table of predictions, against hand counts and plain loops."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.errors import UserError
from attnlab.evaluation.intervals import Interval
from attnlab.evaluation.metrics import METRICS, check_answers, metric_called

LABELS = st.sampled_from(["a", "b", "c", 1])
PAIRS = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=12)
ROW = {"id": "x", "gold": "a", "prediction": "b", "loss": 2.5, "tokens": 3, "characters": 7}


def table(pairs: list[tuple[Any, Any]]) -> list[dict[str, Any]]:
    return [{"gold": gold, "prediction": predicted} for gold, predicted in pairs]


def macro_f1(pairs: list[tuple[Any, Any]]) -> float:
    """Precision, recall and their harmonic mean, class by class."""
    scores = []
    for label in {label for pair in pairs for label in pair}:
        hits = sum(gold == predicted == label for gold, predicted in pairs)
        precision = hits / max(1, sum(predicted == label for _, predicted in pairs))
        recall = hits / max(1, sum(gold == label for gold, _ in pairs))
        scores.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    return sum(scores) / len(scores)


def test_f1_of_three_classes_by_hand() -> None:
    """The classes have precision 1, 1/2, 1/2 and recall 2/3, 1/2, 1: F1 4/5, 1/2, 2/3."""
    rows = table(list(zip("aaabbc", "aabbcc", strict=True)))
    assert metric_called("f1").score(rows) == pytest.approx(59 / 90, abs=1e-12)


@given(PAIRS)
def test_f1_equals_precision_and_recall_class_by_class(pairs: list[tuple[Any, Any]]) -> None:
    assert metric_called("f1").score(table(pairs)) == pytest.approx(macro_f1(pairs), abs=1e-12)


@given(PAIRS, st.integers(0, 2**32 - 1))
def test_classes_that_only_another_table_has_count_for_nothing(
    pairs: list[tuple[Any, Any]], seed: int
) -> None:
    f1, other = metric_called("f1"), np.random.default_rng(seed).integers(90, 99, len(pairs))
    wider = table([(gold, int(label)) for (gold, _), label in zip(pairs, other, strict=True)])
    _, features = f1.features([wider, table(pairs)])
    score = float(f1.finish(features.sum(axis=0)))
    assert score == pytest.approx(macro_f1(pairs), abs=1e-12)


def test_f1_counts_a_rare_class_as_much_as_a_common_one() -> None:
    rows = table([("common", "common")] * 98 + [("rare", "common")] * 2)
    assert metric_called("accuracy").score(rows) == 0.98
    assert metric_called("f1").score(rows) == pytest.approx(98 / 99 / 2, abs=1e-12)


@given(PAIRS)
def test_accuracy_is_the_share_of_equal_labels(pairs: list[tuple[Any, Any]]) -> None:
    expected = sum(gold == predicted for gold, predicted in pairs) / len(pairs)
    assert metric_called("accuracy").score(table(pairs)) == expected


def test_perplexity_weighs_an_example_by_its_tokens() -> None:
    rows = [{"loss": 10.0, "tokens": 10}, {"loss": 400.0, "tokens": 100}]
    score = metric_called("perplexity").score(rows)
    assert score == pytest.approx(math.exp(410 / 110), rel=1e-12)


def test_a_perplexity_too_large_for_a_float_stays_finite() -> None:
    assert math.isfinite(metric_called("perplexity").score([{"loss": 1e6, "tokens": 1}]))


def test_bits_per_character_weigh_an_example_by_its_characters() -> None:
    rows = [{"loss": 10.0, "characters": 12}, {"loss": 40.0, "characters": 20}]
    score = metric_called("bits_per_character").score(rows)
    assert score == pytest.approx(50 / math.log(2) / 32, rel=1e-12)


def test_scores_and_differences_are_written_in_the_metrics_unit() -> None:
    f1, perplexity = metric_called("f1"), metric_called("perplexity")
    assert (f1.write(0.7129), f1.write_difference(-0.021)) == ("71.3 %", "2.1 points")
    assert (perplexity.write(43.394), perplexity.write_signed(-1.5)) == ("43.39", "-1.50")


def test_an_interval_ends_where_scores_end() -> None:
    assert metric_called("f1").within_bounds(Interval(-0.1, 1.2)) == (0, 1)
    assert metric_called("perplexity").within_bounds(Interval(-3.0, 70.0)) == (1, 70)


def test_an_unknown_metric_is_named_with_those_there_are() -> None:
    message = r"no metric is called 'acuracy'. Did you mean 'accuracy'\? Known: accuracy, bits_per"
    with pytest.raises(UserError, match=message):
        metric_called("acuracy")


@pytest.mark.parametrize("name", METRICS)
def test_each_column_that_a_metric_needs_is_checked_in_each_row(name: str) -> None:
    metric = metric_called(name)
    check_answers([ROW, ROW], metric, n=2, place="p")
    for column in metric.columns:
        lacking = {key: value for key, value in ROW.items() if key != column}
        with pytest.raises(UserError, match=rf"p:2 lacks {column}, or its value does not fit"):
            check_answers([ROW, lacking], metric, n=2, place="p")


@pytest.mark.parametrize(
    ("column", "value"), [("tokens", 0), ("tokens", "3"), ("loss", math.nan)], ids=str
)
def test_a_loss_that_is_no_number_and_a_text_without_tokens_are_refused(
    column: str, value: object
) -> None:
    with pytest.raises(UserError, match=f"p:1 lacks {column}"):
        check_answers([{**ROW, column: value}], metric_called("perplexity"), n=1, place="p")
