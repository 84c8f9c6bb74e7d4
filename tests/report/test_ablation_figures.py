"""Curves of an ablation: the first steps are cut, but no condition is."""

import pytest
from matplotlib.figure import Figure

from attnlab.report.ablation.figures import _cut_the_first_steps


def limits(*curves: list[float]) -> tuple[float, float]:
    axis = Figure().subplots()
    for curve in curves:
        axis.plot(curve)
    _cut_the_first_steps(axis)
    return axis.get_ylim()


def test_a_control_that_is_far_above_a_leaking_model_is_still_shown() -> None:
    """The bug to guard against: perplexity 1.03 from the future, and the control out of sight."""
    low, high = limits([60.0, 7.0, 5.6], [60.0, 3.0, 1.03])
    assert low < 1.03
    assert 5.6 < high < 60


def test_the_first_steps_do_not_hide_the_rest() -> None:
    assert limits([60.0, 7.0, 5.6], [60.0, 6.0, 5.0])[1] == pytest.approx(4 * 5.0)


def test_a_panel_without_curves_is_left_alone() -> None:
    assert limits([]) == Figure().subplots().plot([])[0].axes.get_ylim()
