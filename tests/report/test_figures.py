"""Figures: a title on every panel, units people use, points where there is no curve."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from attnlab.checks.cost import Cost
from attnlab.report.attention import costs_figure
from attnlab.report.figure_output import PHONE_WIDTH, as_svg, for_a_phone
from attnlab.report.figures import LONGEST_NAME, PAGE_WIDTH, plain
from attnlab.report.knowledge_figures import looks_figure, risk_coverage_figure
from attnlab.report.training_curves import curves

ONCE = [{"step": 2, "loss": 1.5}, {"step": 2, "dev_accuracy": 0.25, "train_accuracy": 0.5}]
OFTEN = [{"step": 1000 * step, "loss": 3 / step, "dev_accuracy": 0.1} for step in range(1, 9)]
COSTS = [
    Cost("dot", length, seconds=length / 1e4, peak_bytes=length * 20_000)
    for length in (64, 128, 1024)
]


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_single_evaluation_is_drawn_as_points_with_their_numbers() -> None:
    figure = curves({"run": ONCE}, per_epoch=None)
    assert titles(figure) == ["Training loss (nats)", "Accuracy (%)"]
    assert texts(figure) == ["1.50", "25.0", "50.0"]
    assert [tick.get_text() for tick in figure.axes[1].get_xticklabels()] == ["dev", "train"]
    assert all(len(line.get_xdata()) == 1 for line in figure.axes[1].lines)


def test_several_evaluations_are_drawn_as_a_curve_over_plain_numbers() -> None:
    figure = curves({"run": OFTEN}, per_epoch=None)
    as_svg(figure)
    assert titles(figure) == ["Training loss (nats)", "Accuracy on dev (%)"]
    assert texts(figure) == []
    assert [len(axes.lines[0].get_xdata()) for axes in figure.axes] == [8, 8]
    assert "2,000" in [tick.get_text() for tick in figure.axes[0].get_xticklabels()]


@pytest.mark.parametrize("lines", [ONCE, OFTEN], ids=["points", "curves"])
def test_no_two_runs_look_alike(lines: list[dict[str, Any]]) -> None:
    figure = curves({f"run {i}": lines for i in range(9)}, per_epoch=None)
    for drawn in (figure.axes[0].lines, figure.legends[0].get_lines()):
        assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 9


def test_a_run_that_logged_nothing_is_not_in_the_legend() -> None:
    figure = curves({"majority": [], "a": OFTEN, "b": OFTEN}, per_epoch=None)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_costs_are_in_milliseconds_and_megabytes_over_lengths_as_people_write_them() -> None:
    figure = costs_figure(COSTS)
    as_svg(figure)
    assert titles(figure) == ["Time, forward and backward (ms)", "Peak memory (MB)"]
    times, memory = figure.axes
    assert [tick.get_text() for tick in times.get_xticklabels()] == ["64", "128", "1,024"]
    assert list(times.lines[0].get_ydata()) == pytest.approx([6.4, 12.8, 102.4])
    assert list(memory.lines[0].get_ydata()) == pytest.approx([1.28, 2.56, 20.48])
    assert "100" in [tick.get_text() for tick in times.get_yticklabels()]


def test_the_figures_of_the_knowledge_lab_have_titles() -> None:
    rows = [{"confidence": 0.1 * i, "prediction": "a", "gold": "ab"[i % 2]} for i in range(1, 9)]
    assert titles(risk_coverage_figure({"dev": rows}, {})) == ["Error rate (%)"]
    figure = looks_figure(["a", " ", "b"], [np.full((2, 3, 3), 0.25)], n_question=2)
    assert titles(figure)[0] == "layer 1: attention weight (%)"
    assert figure.axes[0].images[0].get_array().max() == 25  # type: ignore[union-attr]


def test_on_a_phone_panels_stand_below_each_other_and_the_figure_itself_is_unchanged() -> None:
    figure = curves({"one": OFTEN, "another": OFTEN}, per_epoch=None)
    as_svg(figure)
    before = [axes.get_position().bounds for axes in figure.axes]
    narrow = for_a_phone(figure)
    as_svg(narrow)
    assert narrow.get_figwidth() == PHONE_WIDTH < figure.get_figwidth() <= PAGE_WIDTH
    upper, lower = (axes.get_position() for axes in narrow.axes)
    assert upper.y0 > lower.y1
    assert len(narrow.legends[0].get_texts()) == 2
    assert narrow.axes[0].get_title(loc="left") == figure.axes[0].get_title(loc="left")
    assert {axes._left_title.get_fontweight() for axes in narrow.axes} == {"bold"}  # type: ignore[attr-defined]
    as_svg(figure)  # lays it out again, which moves an edge by a thousandth at most
    after = [axes.get_position().bounds for axes in figure.axes]
    assert np.array(after) == pytest.approx(np.array(before), abs=2e-3)
    assert len(figure.legends) == 1


def test_a_name_is_no_mathematics_and_a_long_one_keeps_both_ends() -> None:
    assert plain("a$b") == r"a\$b"
    short = plain("begins-" + "x" * 50 + "-ends")
    assert len(short) == LONGEST_NAME
    assert short.startswith("begins-")
    assert short.endswith("-ends")
