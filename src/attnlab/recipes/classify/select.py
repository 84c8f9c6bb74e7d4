"""Which hyperparameters? A grid of runs, the choice on dev, and the test set read once.

Every cell is a run of ``attnlab classify train`` that leaves test unread. What dev chooses is run
once more, from where it ended, with test read. At a constant rate the run of more epochs goes on
from that of fewer, so that no epoch is trained twice; with any other schedule each is its own run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from attnlab.assets.models import find_model
from attnlab.errors import UserError
from attnlab.evaluation.differing import scientific
from attnlab.evaluation.failures import part_failed
from attnlab.evaluation.selection import select_best
from attnlab.models.encoder import open_checkpoint
from attnlab.recipes.classify.classifier import check_fits
from attnlab.recipes.classify.longer import goes_on
from attnlab.recipes.classify.settings import ClassifySettings, SelectSettings
from attnlab.recipes.classify.texts import fetch_texts, read_texts, references
from attnlab.recipes.classify.train import need_texts_and_model
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome
from attnlab.training.settings import OptimizerSettings
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import check_tuning

TITLE = "Which hyperparameters?"
CHOSEN = "chosen"


@dataclass(frozen=True)
class Column:
    """The cells that differ in nothing but their number of epochs."""

    lr: float
    batch_size: int
    optimizer: OptimizerSettings
    tuning: TuningSettings
    seed: int

    def settings(self, grid: SelectSettings, epochs: int) -> ClassifySettings:
        """Return what one of its cells trains with; test stays unread."""
        base = grid.base
        training = replace(
            base.training,
            length=f"{epochs} epochs",
            seed=self.seed,
            optimizer=replace(self.optimizer, lr=self.lr),
        )
        return replace(
            base,
            batch_size=self.batch_size,
            tuning=self.tuning,
            read_test=False,
            training=training,
        )

    def name(self, grid: SelectSettings, epochs: int) -> str:
        """Return the name of one of its cells: every value that is not the same in all."""
        parts = {
            f"lr-{scientific(self.lr)}": grid.lrs,
            f"epochs-{epochs}": grid.epochs,
            f"batch-{self.batch_size}": grid.batch_sizes,
            self.optimizer.name: grid.optimizers,
            self.tuning.name: grid.tunings,
        }
        told = [part for part, values in parts.items() if len(values) > 1]
        return "-".join([*told, f"seed-{self.seed}"])


def plan(settings: SelectSettings, finished: Finished) -> Sequence[Cell]:
    """Train every cell of the grid; then, if there is a test, read it with what dev chose."""
    if not finished.runs:
        check_grid(settings)
    return [*grid_cells(settings, finished), *chosen_cells(settings, finished)]


def close(settings: SelectSettings, finished: Finished) -> StudyOutcome:
    """Compare all cells on dev, in the order of the grid, and show what was chosen."""
    grid = [cell.name for cell in grid_cells(settings, finished)]
    tested = [cell.name for cell in chosen_cells(settings, finished)]
    shown = [name for name in tested or chosen_of(grid, finished) if not _failed(name, finished)]
    return StudyOutcome([*grid, *tested], featured=shown[0] if shown else None)


def chosen_of(cells: Sequence[str], finished: Finished) -> Sequence[str]:
    """Return the runs that dev chooses of some cells; none if all have failed."""
    sound, _ = part_failed([finished.runs[name] for name in cells])
    return select_best(sound).chosen.runs if sound else ()


def _failed(cell: str, finished: Finished) -> bool:
    return finished.runs[cell].failure is not None


def grid_cells(settings: SelectSettings, finished: Finished, prefix: str = "") -> Iterator[Cell]:
    """Give all cells, fewer epochs first: of two that score the same, the cheaper one is chosen."""
    columns, n_texts = list(_columns(settings)), len(read_texts(settings.base).train)
    newest = [""] * len(columns)
    for epochs, (number, column) in product(sorted(settings.epochs), enumerate(columns)):
        cell = _warmed_up(column.settings(settings, epochs), settings, n_texts)
        shorter = newest[number] if goes_on(cell.training.schedule) else ""
        if shorter:
            cell = replace(cell, resume_from=finished.path(shorter))
        newest[number] = prefix + column.name(settings, epochs)
        yield Cell(newest[number], "classify-train", cell, (shorter,) if shorter else ())


def _columns(settings: SelectSettings) -> Iterator[Column]:
    base = settings.base
    optimizer, tuning, seed = base.training.optimizer, base.tuning, base.training.seed
    for lr, batch_size, name, method, extra in product(
        settings.lrs,
        settings.batch_sizes or [base.batch_size],
        settings.optimizers or [optimizer.name],
        settings.tunings or [tuning.name],
        range(settings.seeds),
    ):
        yield Column(
            lr,
            batch_size,
            optimizer if name == optimizer.name else OptimizerSettings(name),
            tuning if method == tuning.name else TuningSettings(method, merge=tuning.merge),
            seed + extra,
        )


def _warmed_up(cell: ClassifySettings, settings: SelectSettings, n_texts: int) -> ClassifySettings:
    """Write a constant schedule's warm-up in steps: that of the fewest epochs, for all of them."""
    schedule = cell.training.schedule
    if schedule.name != "constant" or goes_on(schedule):
        return cell
    steps = min(settings.epochs) * -(-n_texts // cell.batch_size)
    in_steps = replace(schedule, warmup=float(round(schedule.warmup * steps)))
    return replace(cell, training=replace(cell.training, schedule=in_steps))


def chosen_cells(settings: SelectSettings, finished: Finished, prefix: str = "") -> Iterator[Cell]:
    """Give the runs that take up what dev chose and read test; none before the grid is finished."""
    cells = list(grid_cells(settings, finished, prefix))
    if not _has_test(settings.base) or any(cell.name not in finished.runs for cell in cells):
        return
    chosen = chosen_of([cell.name for cell in cells], finished)
    for cell in cells:
        if cell.name in chosen:
            seed = "" if settings.seeds == 1 else f"-seed-{cell.settings.training.seed}"
            again = replace(cell.settings, read_test=True, resume_from=finished.path(cell.name))
            yield Cell(f"{prefix}{CHOSEN}{seed}", cell.job, again, (cell.name,))


def _has_test(base: ClassifySettings) -> bool:
    return base.read_test and ("test" in references(base) or base.test_share > 0)


def check_grid(settings: SelectSettings) -> None:
    """Refuse now what would fail in a late cell, or would have no effect."""
    base, usual = settings.base, SelectSettings().base
    need_texts_and_model(base)
    for key, flag in (("length", "epochs"), ("evaluate_every", ""), ("patience", "")):
        value = getattr(base.training, key)
        if value != getattr(usual.training, key):
            advice = f"give --{flag} instead" if flag else "leave it at 0"
            raise UserError(
                f"base.training.{key} = {value}: a cell is the model after its last epoch, so"
                f" {advice}."
            )
    if base.training.optimizer.lr != usual.training.optimizer.lr:
        raise UserError(
            f"base.training.optimizer.lr = {base.training.optimizer.lr:g} has no effect: give"
            " --lr, which is lrs in a file."
        )
    for method in settings.tunings:
        check_tuning(TuningSettings(method), "--tuning")
    fetch_texts(base)
    texts = read_texts(base)
    if "dev" not in texts.eval_splits:
        raise UserError("there is no dev to choose on: give --dev, or --dev-share above 0.")
    check_fits(open_checkpoint(find_model(base.model)), base, texts)


SELECT = StudyPlan(TITLE, plan, close, goes_on=True)
