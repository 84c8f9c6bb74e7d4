"""The planner: what a job or study will take and what it can show, before anything is trained.

Training is timed in a temporary folder, which leaves nothing behind: a few steps of each kind of
cell. Cells that differ only in seed, learning rate, schedule and length take the same per step.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attnlab.config import flatten, to_dict
from attnlab.console import Console
from attnlab.evaluation.differing import IGNORED
from attnlab.recipes.cells import Cell, threads_of_each
from attnlab.recipes.jobs import find_job
from attnlab.recipes.studies import Finished, StudyPlan, ready, refuse_wrong_cells
from attnlab.report.planning import Plan, PlannedCell
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.references import absolute_settings
from attnlab.runs.study import STUDY
from attnlab.training.forecast import Forecast, TimedOnly
from attnlab.training.length import parse_length
from attnlab.training.settings import TrainingSettings

FINISHED, NO_TRAINING = "finished", "trains nothing"
SAME_PACE = (
    *("training.length", "training.seed", "training.optimizer.lr"),
    *("training.schedule.name", "training.schedule.warmup", "resume_from", "read_test"),
)
"""Settings that change neither what a step costs nor how many there are in an epoch."""


def plan_of(job: str, settings: Any, place: RunPlace, *, parallel: int = 1) -> Plan:
    """Time what a job or study is about to do."""
    settings = absolute_settings(settings, place.root)
    there = place.path(job, to_dict(settings)).resolve()
    with tempfile.TemporaryDirectory(prefix="attnlab-plan-") as folder, _sharing(parallel):
        trial = Trial(there, Path(folder))
        work = find_job(job).work
        if not isinstance(work, StudyPlan):
            name = there.name
            trial.look_at(Cell(name, job, settings), done=(there / RECORD).exists())
        else:
            finished = Finished(there if (there / STUDY).exists() else trial.folder, {})
            cells = work.plan(settings, finished)
            refuse_wrong_cells(cells)
            while waiting := ready(cells, trial.seen):
                cell, done = waiting[0], (there / waiting[0].name / RECORD).exists()
                is_needed = any(cell.name in other.needs for other in cells)
                trial.look_at(cell, done=done, is_needed=is_needed)
                if run := trial.found_without_training(cell):
                    finished.runs[cell.name] = run  # later cells may depend on what it found
                    cells = work.plan(settings, finished)
        return trial.plan(parallel)


@contextmanager
def _sharing(parallel: int) -> Iterator[None]:
    """Time with the threads that each of several processes would have."""
    before = dict(os.environ)
    os.environ.update(threads_of_each(parallel))
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]


@dataclass(frozen=True)
class Pace:
    """What one kind of cell takes."""

    forecast: Forecast
    preparation: float
    """Seconds before the first step."""
    amount: float
    """The length that was timed, in the unit of its kind."""
    sizes: Mapping[str, int]
    """Examples by split that it is evaluated on."""

    def steps(self, amount: float) -> int:
        """Return how many steps a length of this kind comes to."""
        return max(1, round(self.forecast.steps * amount / self.amount))

    def seconds(self, steps: int) -> float:
        """Return how long so many steps take, with all that is around them."""
        found = self.forecast
        return (
            self.preparation
            + steps * found.step_seconds
            + found.evaluations * found.evaluation_seconds
        )


def _trains(cell: Cell) -> bool:
    return isinstance(getattr(cell.settings, "training", None), TrainingSettings)


@dataclass
class Trial:
    """Looks at one cell after the other, and times those that train."""

    home: Path
    """Where the run or study is, or will be."""
    folder: Path
    """A temporary folder."""
    seen: dict[str, PlannedCell] = field(default_factory=dict)
    """What is known of each cell, by name."""
    steps: dict[str, int] = field(default_factory=dict)
    """Steps of each cell from the very beginning, whoever takes them."""
    paces: dict[str, Pace] = field(default_factory=dict)
    """By kind of cell."""
    conditions: dict[str, int] = field(default_factory=dict)
    """Number of runs by what they have in common, without the seed."""
    sizes: dict[str, int] = field(default_factory=dict)

    def look_at(self, cell: Cell, *, done: bool, is_needed: bool = True) -> None:
        """Note what a cell will take; others look for the files of one that is needed."""
        if not _trains(cell):
            by_path = is_needed or bool(cell.needs)
            elsewhere = by_path and ((self.home / STUDY).exists() or cell.name == self.home.name)
            self.seen[cell.name] = self._without_training(cell, done=done, elsewhere=elsewhere)
            return
        resumed = bool(getattr(cell.settings, "resume_from", ""))
        if not resumed and (missing := self._missing(cell)):
            self.seen[cell.name] = _not_timed(cell, missing)
            return
        pace = self._pace(cell)
        self._count(cell, pace)
        whole = self.steps[cell.name] = pace.steps(
            parse_length(cell.settings.training.length).amount
        )
        steps = whole - (self.steps.get(cell.needs[0], 0) if resumed and cell.needs else 0)
        one = pace.forecast.step_seconds
        planned = PlannedCell(cell.name, steps, pace.seconds(steps), step_seconds=one)
        self.seen[cell.name] = PlannedCell(cell.name, note=FINISHED) if done else planned

    def found_without_training(self, cell: Cell) -> Run | None:
        """Return the run of a cell that trains nothing, if it is there by now."""
        folders = [self.home / cell.name, self.folder / cell.name]
        there = [folder for folder in folders if (folder / RECORD).exists()]
        return Run.open(there[0]) if there and not _trains(cell) else None

    def plan(self, parallel: int) -> Plan:
        """Sum up what was seen."""
        threads = [pace.forecast.threads for pace in self.paces.values()]
        return Plan(
            list(self.seen.values()),
            parallel,
            max(threads, default=0),
            self.sizes,
            seeds=max(self.conditions.values(), default=1),
            conditions=len(self.conditions),
        )

    def _missing(self, cell: Cell) -> list[str]:
        return [need for need in cell.needs if not self._is_there(need)]

    def _is_there(self, need: str) -> bool:
        return (self.home / need / RECORD).exists() or (self.folder / need / RECORD).exists()

    def _without_training(self, cell: Cell, *, done: bool, elsewhere: bool) -> PlannedCell:
        """Do the work that later cells need: it is quick, and here it leaves nothing behind."""
        if done or elsewhere:
            return PlannedCell(cell.name, note=FINISHED if done else NO_TRAINING)
        if missing := self._missing(cell):
            return _not_timed(cell, missing)
        began, place = time.perf_counter(), RunPlace(self.folder, cell.name)
        find_job(cell.job).run(cell.settings, place=place, console=Console(quiet=True))
        took = time.perf_counter() - began
        return PlannedCell(cell.name, 0, took, note=NO_TRAINING)

    def _count(self, cell: Cell, pace: Pace) -> None:
        """Note which condition a cell is a run of, if it is evaluated on anything."""
        if not pace.sizes:
            return
        self.sizes |= pace.sizes
        values = dict(flatten(to_dict(cell.settings)))
        told = {name: value for name, value in values.items() if not name.endswith(IGNORED)}
        key = json.dumps([cell.job, told], sort_keys=True)
        self.conditions[key] = self.conditions.get(key, 0) + 1

    def _pace(self, cell: Cell) -> Pace:
        """Time a cell, or take what one of its kind took."""
        length = parse_length(cell.settings.training.length)
        values = {k: v for k, v in flatten(to_dict(cell.settings)) if k not in SAME_PACE}
        key = json.dumps([cell.job, length.unit, values], sort_keys=True)
        if key not in self.paces:
            found, preparation = self._timed(cell)
            sizes = find_job(cell.job).sizes(cell.settings)
            self.paces[key] = Pace(found, preparation, length.amount, sizes)
        return self.paces[key]

    def _timed(self, cell: Cell) -> tuple[Forecast, float]:
        settings = cell.settings
        if hasattr(settings, "resume_from"):
            settings = replace(settings, resume_from="")
        place = RunPlace(self.folder / "timed", f"{len(self.paces)}", is_trial=True)
        began = time.perf_counter()
        try:
            find_job(cell.job).run(settings, place=place, console=Console(quiet=True))
        except TimedOnly as timed:
            return timed.forecast, time.perf_counter() - began - timed.forecast.took
        raise AssertionError(f"{cell.job} has settings of training, and does not train")


def _not_timed(cell: Cell, missing: Sequence[str]) -> PlannedCell:
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return PlannedCell(cell.name, note=f"not timed: needs {missing[0]}{more}", is_timed=False)
