"""Which model, method or optimizer? Each with hyperparameters that dev chose for it alone.

A contestant is a model with a tuning method and an optimizer. It has a grid of its own, as in
``select``; what dev chooses of it reads test once. With one rate, batch size and number of epochs,
the grid is a single cell, and all are compared at these. A model that does not fit into memory
scores 0, and the others are compared.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

from attnlab.errors import NotEnoughMemoryError, UserError
from attnlab.recipes.classify.select import check_grid, chosen_cells, chosen_of, grid_cells
from attnlab.recipes.classify.settings import CompareSettings, SelectSettings
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome

TITLE = "Which model, method or optimizer?"


def plan(settings: CompareSettings, finished: Finished) -> Sequence[Cell]:
    """Train the grid of every contestant; what dev chooses of each reads test."""
    grids = dict(contestants(settings))
    if not finished.runs:
        _check(settings, grids)
    return [
        cell
        for name, grid in grids.items()
        for cell in (
            *grid_cells(grid, finished, f"{name}-"),
            *chosen_cells(grid, finished, f"{name}-"),
        )
    ]


def close(settings: CompareSettings, finished: Finished) -> StudyOutcome:
    """Compare what was chosen of each contestant; without a test, on dev.

    A contestant of whose cells all have failed is there with the first of them.
    """
    compared: list[str] = []
    for name, grid in contestants(settings):
        tested = [cell.name for cell in chosen_cells(grid, finished, f"{name}-")]
        cells = [cell.name for cell in grid_cells(grid, finished, f"{name}-")]
        compared += tested or chosen_of(cells, finished) or cells[:1]
    return StudyOutcome(compared, notes=[_note(settings)])


def contestants(settings: CompareSettings) -> Iterator[tuple[str, SelectSettings]]:
    """Give everything that is compared by its name, with a grid of its own."""
    base = settings.base
    for model, tuning, optimizer in product(
        settings.models,
        settings.tunings or [base.tuning.name],
        settings.optimizers or [base.training.optimizer.name],
    ):
        method = [tuning] if settings.tunings else []
        name = "-".join([Path(model).name, *method, *([optimizer] if settings.optimizers else [])])
        yield (
            name,
            SelectSettings(
                lrs=settings.lrs,
                epochs=settings.epochs,
                batch_sizes=settings.batch_sizes,
                optimizers=(optimizer,),
                tunings=(tuning,),
                seeds=settings.seeds,
                base=replace(base, model=model),
            ),
        )


def _check(settings: CompareSettings, grids: dict[str, SelectSettings]) -> None:
    """Refuse now what would fail late: two of one name, or a grid that cannot be run."""
    if len(grids) < len(list(contestants(settings))):
        raise UserError(
            f"two of the models {', '.join(settings.models)} would have the same name: give every"
            " model and method once, in folders of different names."
        )
    if len(grids) < 2:
        raise UserError(
            "there is nothing to do: give several --models, --tuning or --optimizer to compare."
        )
    for grid in grids.values():
        with suppress(NotEnoughMemoryError):  # its cells fail one by one, which is a result
            check_grid(grid)


def _note(settings: CompareSettings) -> str:
    several = [
        what
        for what, values in (
            ("learning rate", settings.lrs),
            ("number of epochs", settings.epochs),
            ("batch size", settings.batch_sizes),
        )
        if len(values) > 1
    ]
    if not several:
        return "All are compared at the same learning rate, batch size and number of epochs."
    return f"Each was run at its own {', '.join(several)}, which dev chose."


COMPARE = StudyPlan(TITLE, plan, close, goes_on=True)
