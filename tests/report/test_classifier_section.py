"""What a report and a terminal say about a classifier's classes."""

from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from records import labelled_run
from rich.console import Console

from attnlab.evaluation.confidence import calibration_curve
from attnlab.recipes.closing import Splits, close_run
from attnlab.report.build_report import build_report
from attnlab.report.classifier_figures import calibration_figure, confusion_figure
from attnlab.report.document import Block, Figure, Heading, Table
from attnlab.report.figure_output import as_svg, for_a_phone
from attnlab.report.sections.classifier import classifier_blocks, short_blocks
from attnlab.report.sections.one_run import ONE_RUN
from attnlab.report.terminal import blocks_view
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.predictions import prediction_row

FEW = ["bad", "fine", "good"]
MANY = [f"class {i}" for i in range(13)]


def headings(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Heading)]


def tables(blocks: Sequence[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


def test_a_terminal_shows_classes_confusion_and_three_mistakes(tmp_path: Path) -> None:
    blocks = list(short_blocks(labelled_run(tmp_path, FEW)))
    assert headings(blocks) == ["Class by class on dev", "The surest mistakes on dev: 3 of 15"]
    scores, confusion, mistakes = tables(blocks)
    assert scores.rows[0][:3] == ["bad", "20", "75.0 % (53 – 89)"]
    assert confusion.columns[1:] == FEW
    assert [row[1:] for row in confusion.rows] == [
        ["15", "5", "0"],
        ["0", "15", "5"],
        ["5", "0", "15"],
    ]
    assert [row[0] for row in mistakes.rows] == ["text 56", "text 52", "text 48"]
    assert mistakes.rows[0][1:] == ["bad", "good", "87 %"]
    console = Console(width=80, file=StringIO())
    console.print(blocks_view(blocks))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "75.0 % (53 – 89)" in shown, "a number is not wrapped"


def test_many_classes_leave_only_the_mistakes_on_a_terminal(tmp_path: Path) -> None:
    run = labelled_run(tmp_path, MANY)
    assert headings(list(short_blocks(run))) == ["The surest mistakes on dev: 3 of 15"]
    scores, common, _ = tables(list(classifier_blocks(run)))
    assert len(scores.rows) == 13
    assert list(common.columns) == ["true class", "taken for", "times"]
    assert common.rows[0][2] == "2"


def test_a_page_has_the_figures_and_ten_mistakes(tmp_path: Path) -> None:
    document = build_report([labelled_run(tmp_path, FEW)], ONE_RUN)
    drawn = [block.name for block in document.blocks if isinstance(block, Figure)]
    assert drawn == ["confusion", "calibration"]
    assert "The surest mistakes on dev: 10 of 15" in headings(document.blocks)
    assert "Confidence and accuracy differ by" in str(document.blocks)


def test_a_run_without_classes_says_nothing_of_them(tmp_path: Path) -> None:
    run = Run.begin("knowledge-evaluate", {}, RunPlace(tmp_path, "k"))
    rows = [prediction_row("q", "q", gold="a", prediction="b", confidence=0.5)]
    splits = Splits({"test": [{"question": "q"}]}, inputs=["question"])
    close_run(run, {"test": rows}, splits=splits)
    assert [*short_blocks(run), *classifier_blocks(run)] == []


@pytest.mark.parametrize("classes", [["a", "b"], [f"${i} long name of a class" for i in range(12)]])
def test_the_confusion_figure_shows_shares_and_fits_a_phone(classes: list[str]) -> None:
    counts = np.eye(len(classes), dtype=int) * 3
    counts[0, 1] = 1
    counts[1] = 0  # no example of it
    figure = confusion_figure(counts.tolist(), classes)
    drawn = figure.axes[0].images[0].get_array()
    assert drawn is not None
    assert drawn[0, :2].tolist() == [75, 25]
    assert drawn[1].sum() == 0
    assert figure.axes[0].get_title(loc="left") == "Predictions (% of the true class)"
    assert as_svg(for_a_phone(figure))


def test_the_calibration_figure_draws_every_group_in_percent() -> None:
    figure = calibration_figure(calibration_curve(np.linspace(0.5, 1, 40), np.arange(40) % 4 > 0))
    points = figure.axes[0].lines[1].get_xydata()
    assert np.shape(points) == (10, 2)
    assert np.asarray(points)[:, 1] == pytest.approx(75.0)
