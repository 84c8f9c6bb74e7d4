"""Names that the fields of a run's files repeat, against where they come from."""

from typing import get_args, get_type_hints

from attnlab.evaluation.metrics import METRICS
from attnlab.report.calibration import SIGNALS
from attnlab.runs.fields import Hardware, Score, Signal
from attnlab.training.settings import Device, Precision


def names(shape: type, field: str) -> set[str]:
    """Return what a field may hold."""
    return set(get_args(get_type_hints(shape)[field]))


def test_devices_and_precisions_are_those_of_the_settings_without_auto() -> None:
    assert names(Hardware, "device") == set(get_args(Device)) - {"auto"}
    assert names(Hardware, "precision") == set(get_args(Precision)) - {"auto"}


def test_a_score_may_be_of_any_metric_but_the_one_that_perplexity_carries_along() -> None:
    assert names(Score, "metric") == METRICS.keys() - {"bits_per_character"}
    assert "bits_per_character" in get_type_hints(Score)


def test_signals_are_those_that_a_report_has_words_for() -> None:
    assert set(get_args(Signal)) == SIGNALS.keys()
