"""What a classifier's user asks: which classes go wrong, what for, and how sure it was."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any

from attnlab.evaluation.calibration import column, right
from attnlab.evaluation.confidence import calibration_curve, calibration_error
from attnlab.evaluation.intervals import percent
from attnlab.evaluation.per_class import (
    Estimate,
    class_scores,
    confusion_matrix,
    surest_mistakes,
)
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.report.tables import LONGEST, short
from attnlab.runs.directory import Run
from attnlab.runs.predictions import shown_split

FEW_CLASSES = 10
"""Most classes whose tables fit a terminal."""
MOST_DRAWN = 12
"""Most classes whose names fit a figure on a phone."""
MISTAKES, MISTAKES_ON_PAGE = 3, 10
TERMINAL_TEXT = 100
"""Characters of a text that a terminal shows."""

Rows = Sequence[Mapping[str, Any]]


def short_blocks(run: Run) -> Iterator[Block]:
    """Show the classes and the surest mistakes on a terminal; nothing if there are no classes."""
    split, rows, classes = _classified(run)
    if not rows:
        return
    if len(classes) <= FEW_CLASSES:
        confusion = confusion_matrix(rows, classes)
        yield Heading(f"Class by class on {split}")
        yield scores_by_class(confusion, classes)
        yield confusion_table(confusion, classes)
    yield from _mistakes(split, rows, MISTAKES, width=TERMINAL_TEXT)


def classifier_blocks(run: Run) -> Iterator[Block]:
    """Show all of it on a page, with figures; nothing if there are no classes."""
    split, rows, classes = _classified(run)
    if not rows:
        return
    from attnlab.report.classifier_figures import calibration_figure, confusion_figure

    confusion = confusion_matrix(rows, classes)
    yield Heading(f"Class by class on {split}")
    yield scores_by_class(confusion, classes)
    if len(classes) <= MOST_DRAWN:
        yield confusion_table(confusion, classes)
        caption = (
            "Where the examples of every class (row) go; what is not on the diagonal is wrong."
        )
        yield Figure("confusion", caption, confusion_figure(confusion, classes))
    else:
        yield common_confusions(rows)
    sure, is_right = column(rows, "confidence"), right(rows)
    yield Heading(f"What its confidence is worth on {split}")
    gap = percent(calibration_error(sure, is_right), 1)
    yield Sentences([f"Confidence and accuracy differ by {gap} on average."])
    caption = (
        "Accuracy with its 95 % interval in groups of equally many examples; on the dotted line,"
        " confidence is what it says."
    )
    yield Figure("calibration", caption, calibration_figure(calibration_curve(sure, is_right)))
    yield from _mistakes(split, rows, MISTAKES_ON_PAGE, width=LONGEST)


def scores_by_class(confusion: Sequence[Sequence[int]], classes: Sequence[str]) -> Table:
    """Show precision, recall and F1 of every class with their 95 % intervals."""
    return Table(
        ["class", "n", "precision (95 %)", "recall (95 %)", "F1 (95 %)"],
        [
            [short(one.name), f"{one.n:,}", *map(_written, (one.precision, one.recall, one.f1))]
            for one in class_scores(confusion, classes)
        ],
    )


def confusion_table(confusion: Sequence[Sequence[int]], classes: Sequence[str]) -> Table:
    """Show which class is taken for which."""
    rows = zip(classes, confusion, strict=True)
    return Table(
        ["true \\ predicted", *map(short, classes)],
        [[short(name), *(f"{count:,}" for count in counts)] for name, counts in rows],
        shaded=True,
    )


def common_confusions(rows: Rows) -> Table:
    """Show which class is most often taken for which; there are too many to show all."""
    wrong = Counter((row["gold"], row["prediction"]) for row in rows)
    found = [(*pair, count) for pair, count in wrong.most_common() if pair[0] != pair[1]]
    return Table(
        ["true class", "taken for", "times"],
        [[short(gold), short(taken), f"{n:,}"] for gold, taken, n in found[:MISTAKES_ON_PAGE]],
    )


def _classified(run: Run) -> tuple[str, Rows, Sequence[str]]:
    """Return a split with its predictions and classes; no predictions if it is no classifier's."""
    split, classes = shown_split(run, scored=True), run.record.get("classes")
    rows = run.predictions(split) if split and classes else []
    has_all = all("probabilities" in row and "gold" in row for row in rows)
    return split or "", rows if has_all else [], classes or []


def _mistakes(split: str, rows: Rows, count: int, *, width: int) -> Iterator[Block]:
    wrong = len(rows) - sum(right(rows))
    if not wrong:
        return
    found = surest_mistakes(rows, count)
    yield Heading(f"The surest mistakes on {split}: {len(found):,} of {wrong:,}")
    yield Table(
        ["text", "predicted", "truth", "confidence"],
        [
            [
                shorten(row["input"], width, placeholder=" …"),
                row["prediction"],
                row["gold"],
                percent(row["confidence"]),
            ]
            for row in found
        ],
    )


def _written(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    low, high = (f"{100 * bound:.0f}" for bound in estimate.interval)
    return f"{percent(estimate.value, 1)} ({low} – {high})"
