"""The selection study: the grid on dev, what was chosen, what cannot be told apart, then test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.figure import Figure as MatplotlibFigure

from attnlab.evaluation.comparison import Condition, compare, doubts
from attnlab.evaluation.differing import scientific
from attnlab.evaluation.failures import FailedCondition, part_failed
from attnlab.evaluation.selection import Selection, select_best
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.report.epochs import epochs_of
from attnlab.report.grid_figure import Axis, Field, grid_figure
from attnlab.report.sections import Section
from attnlab.report.sections.one_run import curves
from attnlab.report.tables import (
    baseline_text,
    comparison_table,
    failures_table,
    why_failed,
)
from attnlab.runs.directory import Run

Point = tuple[str, ...]
"""A cell's values, one for each of ``SWEPT``."""
SWEPT = ("learning rate", "batch size", "optimizer", "tuning", "epochs")
MARKS = "* chosen; ~ not distinguishable from it; ! did not learn, or not shown to"
MOST_NAMED = 6
BETWEEN = " · "
"""What stands between the values of a row."""


@dataclass(frozen=True)
class Grid:
    """Which condition stands where: epochs side by side, everything else below each other."""

    selection: Selection
    places: dict[tuple[str, str], Condition]
    """By row and column."""
    rows: Axis
    columns: Axis
    failed: dict[tuple[str, str], FailedCondition]
    """Those without a score, by row and column as well."""

    def names(self) -> dict[str, str]:
        """Return what to call each condition."""
        everywhere: dict[tuple[str, str], Condition | FailedCondition]
        everywhere = {**self.places, **self.failed}
        return {one.name: self.called(*place) for place, one in everywhere.items()}

    def called(self, row: str, column: str) -> str:
        """Name a place as a sentence does."""
        titles = [*self.rows.title.split(BETWEEN), self.columns.title]
        values = [*row.split(BETWEEN), column]
        parts = zip(titles, values, strict=True)
        return ", ".join(f"{title} {value}" for title, value in parts if title)


def grid_of(runs: Sequence[Run]) -> Grid:
    """Lay the conditions out by what differs between them."""
    points = {run.name: _point(run) for run in runs}
    sound, failed = part_failed(runs)
    selection = select_best(sound)
    swept = [k for k in range(len(SWEPT)) if len({point[k] for point in points.values()}) > 1]
    across = swept[-1] if swept else len(SWEPT) - 1
    down = [k for k in swept if k != across]

    def place(run: str) -> tuple[str, str]:
        return BETWEEN.join(points[run][k] for k in down), points[run][across]

    everywhere = [place(run) for run in points]
    return Grid(
        selection,
        {place(one.runs[0]): one for one in selection.comparison.conditions},
        Axis(BETWEEN.join(SWEPT[k] for k in down), _in_order(row for row, _ in everywhere)),
        Axis(SWEPT[across], _in_order(column for _, column in everywhere)),
        {place(one.runs[0]): one for one in failed},
    )


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Show the grid, say what was chosen and how sure that is, then what it scores on test."""
    cells, tested = _parted(runs)
    sound, failed = part_failed(cells)
    if not sound:
        yield failures_table(failed)
        yield Sentences(["Nothing was chosen: every cell has failed.", *why_failed(failed)], True)
        return
    grid = grid_of(cells)
    comparison = grid.selection.comparison
    yield Heading(f"{comparison.metric.title} on dev, n = {comparison.n:,}")
    yield _table(grid)
    yield Sentences([MARKS + ".", *_verdicts(grid, cells)])
    if found := list(_doubts(grid, cells)):
        yield Sentences(found, warning=True)
    yield Figure(
        "grid",
        "Accuracy on dev in percent with its 95 % interval. Framed: chosen; dotted frame: not"
        " distinguishable from it; hatched: did not learn, or was not shown to; empty: no score.",
        _figure(grid),
    )
    yield Heading("Test, read once with what dev chose")
    _, untested = part_failed(tested)
    if untested:
        yield Sentences([f"test: {one.result}. {one.message}" for one in untested], warning=True)
    elif any("test" in run.record["scores"] for run in tested):
        scored = compare(tested, split="test")
        named = [
            replace(one, name=grid.names()[grid.selection.chosen.name]) for one in scored.conditions
        ]
        yield comparison_table(replace(scored, conditions=tuple(named)))
    else:
        yield Sentences(["test: no labels" if tested else "test: none"])


def _parted(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Part the cells of the grid from the runs that have read test."""
    tested = [run for run in runs if run.setting("read_test")]
    return [run for run in runs if run not in tested], tested


def _point(run: Run) -> Point:
    training = run.setting("training")
    return (
        scientific(training["optimizer"]["lr"]),
        str(run.setting("batch_size")),
        training["optimizer"]["name"],
        run.setting("tuning")["name"],
        training["length"].partition(" ")[0],
    )


def _in_order(values: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _mark(grid: Grid, name: str) -> str:
    selection = grid.selection
    chosen = "*" if name == selection.chosen.name else "~" if name in selection.alike else ""
    return chosen + ("!" if name in selection.collapsed else "")


def _table(grid: Grid) -> Table:
    def written(row: str, column: str) -> str:
        if (row, column) in grid.failed:
            return f"{grid.failed[row, column].result} !"
        if (row, column) not in grid.places:
            return "–"
        one = grid.places[row, column]
        low, high = (f"{100 * bound:.0f}" for bound in one.interval)
        return f"{100 * one.score:.1f} [{low}, {high}] {_mark(grid, one.name)}".strip()

    corner = f"{grid.rows.title} \\ {grid.columns.title}" if grid.rows.title else ""
    body = [
        [row, *(written(row, column) for column in grid.columns.values)] for row in grid.rows.values
    ]
    if not grid.rows.title:
        return Table(
            [grid.columns.title, "%"], list(zip(grid.columns.values, body[0][1:], strict=True))
        )
    return Table([corner, *grid.columns.values], body)


def _verdicts(grid: Grid, cells: Sequence[Run]) -> Iterator[str]:
    """Say what was chosen, and what dev cannot tell from it."""
    selection, names = grid.selection, grid.names()
    metric, chosen = selection.comparison.metric, selection.chosen
    guessing = baseline_text(metric, chosen.baseline)
    yield (
        f"Chosen: {names[chosen.name]}, {metric.write(chosen.score)} on dev"
        f"{_on_train(chosen, cells)}; guessing scores {guessing}."
    )
    if selection.tied:
        yield (
            f"Tie: {_listed(selection.tied, names)} scored exactly the same. Of equal ones, that"
            " with fewest epochs is chosen, then the first of the grid."
        )
    n, tests = len(grid.places) - 1, len(selection.comparison.pairs)
    if selection.alike:
        yield (
            f"Not distinguishable from the choice: {len(selection.alike)} of {n} others"
            f" ({_listed(selection.alike, names)}); paired test, Holm's correction for {tests}."
        )
    elif n:
        others = "The other one is" if n == 1 else f"All {n} others are"
        yield (
            f"{others} worse by a paired test with Holm's correction for {tests}, or did not learn."
        )
    if n:
        yield f"The score is the highest of {n + 1} on dev, so it is optimistic; test is not."
    yield from _shared_runs(cells)


def _on_train(chosen: Condition, cells: Sequence[Run]) -> str:
    """Say how the chosen runs did on train in their last epoch, if that was logged."""
    found = []
    for run in cells:
        per_epoch = run.record.get("steps_per_epoch")
        if run.name in chosen.runs and per_epoch and run.metrics():
            last = epochs_of(run.metrics(), per_epoch)[-1]
            found += [last.values["train_accuracy"]] if "train_accuracy" in last.values else []
    if not found:
        return ""
    return f", {100 * sum(found) / len(found):.1f} % on train in the last epoch"


def _shared_runs(cells: Sequence[Run]) -> Iterator[str]:
    resumed = sum(bool(run.setting("resume_from")) for run in cells)
    if resumed:
        yield (
            f"The rate is constant after the warm-up, so {len(cells) - resumed} trainings serve"
            f" all {len(cells)} runs: one of more epochs went on from that of fewer, which gives"
            " the same weights as a training of its own."
        )
    elif len({run.setting("training")["length"] for run in cells}) > 1:
        schedule = cells[0].setting("training")["schedule"]["name"]
        yield f"With the {schedule} schedule, each number of epochs is a training of its own."


def _doubts(grid: Grid, cells: Sequence[Run]) -> Iterator[str]:
    """Name the cells that collapsed, and what makes dev itself doubtful."""
    selection, names = grid.selection, grid.names()
    if selection.chosen.name in selection.collapsed:
        yield (
            "The choice has not been shown to learn anything: train longer, with other rates or on"
            " more texts."
        )
    if selection.constant:
        yield f"One class for everything: {_listed(selection.constant, names)}."
    if selection.at_majority:
        yield (
            "Not shown to be above guessing, whose score is in or above the interval:"
            f" {_listed(selection.at_majority, names)}."
        )
    for one in grid.failed.values():
        yield f"No score, so not to be chosen: {names[one.name]}, {one.result}. {one.message}"
    chosen = next(run for run in cells if run.name in selection.chosen.runs)
    yield from (f"{doubt}." for doubt in doubts(chosen.record, "dev"))


def _listed(conditions: Sequence[str], names: dict[str, str]) -> str:
    listed = "; ".join(names[one] for one in conditions[:MOST_NAMED])
    more = len(conditions) - MOST_NAMED
    return f"{listed}; and {more} more" if more > 0 else listed


def _figure(grid: Grid) -> MatplotlibFigure:
    selection, fields = grid.selection, {}
    for (row, column), one in grid.places.items():
        fields[grid.rows.values.index(row), grid.columns.values.index(column)] = Field(
            100 * one.score,
            100 * one.interval.low,
            100 * one.interval.high,
            is_chosen=one.name == selection.chosen.name,
            is_alike=one.name in selection.alike,
            has_collapsed=one.name in selection.collapsed,
        )
    return grid_figure(fields, grid.rows, grid.columns, title="Accuracy on dev (%)")


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Draw the curves of the longest runs, whose logs hold those of the runs they went on from."""
    cells, _ = part_failed(_parted(runs)[0])
    shorter = {Path(run.setting("resume_from")).name for run in cells if run.setting("resume_from")}
    yield from curves([run for run in cells if run.name not in shorter])


SELECTION = Section(summary, details)
