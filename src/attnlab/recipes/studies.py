"""Studies: jobs made of other jobs.

A study plans cells. A cell is a name, a job, its settings and the cells it needs first, and nothing
else: anything that can call ``attnlab run JOB --config cells/NAME.yaml --name NAME`` can run it.
Here ``recipes.cells.py`` does, in this process or in several. Only the lead process plans.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.console import Console

from attnlab.config import from_dict, to_dict, to_yaml
from attnlab.errors import BusyError, UserError
from attnlab.recipes.cells import Cell as Cell
from attnlab.recipes.cells import workers
from attnlab.recipes.cells_on_slurm import handing_out
from attnlab.recipes.failed_cells import close_as_failed
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.lock import our_turn
from attnlab.runs.references import absolute_settings
from attnlab.runs.study import STUDY, Study, StudyOutcome
from attnlab.training.distributed import Processes, join_processes
from attnlab.training.optimization import check_training
from attnlab.training.settings import TrainingSettings

SettingsT = TypeVar("SettingsT")


@dataclass(frozen=True)
class Finished:
    """The cells of a study that are finished, and where all of them live."""

    folder: Path
    runs: dict[str, Run]

    def path(self, cell: str, *inside: str) -> str:
        """Return where a cell, or a file in it, is or will be."""
        return str(self.folder.joinpath(cell, *inside))


@dataclass(frozen=True)
class StudyPlan(Generic[SettingsT]):
    """What a study is: which cells there are, and what they come to."""

    title: str
    plan: Callable[[SettingsT, Finished], Sequence[Cell]]
    """Returns the cells that are known by now, finished or not. It is called again when these are
    finished, and may then return more; the study is over when it does not."""
    close: Callable[[SettingsT, Finished], StudyOutcome]
    """Says at the end which runs are compared, and what a reader should know."""
    goes_on: bool = False
    """Whether a cell that fails by itself, such as for want of memory, is a result: it is finished
    without a score, and so are the cells that need it."""

    def __call__(
        self,
        job: str,
        settings: Any,
        *,
        place: RunPlace,
        console: Console,
        parallel: int | None = None,
        hand_out: bool = False,
    ) -> Study:
        """Run every cell that is not finished, in the order of their needs; resumes by itself.

        ``parallel`` cells run at a time, in as many processes, which share the cores. With
        ``hand_out`` they become jobs on Slurm, and this ends with ``HandedOver``.
        """
        settings = absolute_settings(settings, place.root)  # and so are those of its cells
        # however a user writes the path, it is the same study
        path = place.path(job, to_dict(settings)).resolve()
        done = Finished(path, {})
        was_finished = (path / STUDY).exists() and Study.open(path).is_finished

        def plan() -> list[dict[str, Any]]:
            if was_finished:
                return _planned_before(path)  # what it was planned from may be gone
            return [asdict(cell) for cell in self.plan(settings, done)]

        with join_processes() as processes:
            cells = _cells(processes.from_lead(plan))  # a mistake is found before there is a folder
            if not was_finished:
                refuse_wrong_cells(cells)
            with (
                _begun(job, settings, place, title=self.title, processes=processes),
                handing_out(path, parallel, console, goes_on=self.goes_on)
                if hand_out
                else workers(
                    path,
                    parallel or 1,
                    console,
                    processes=processes.size,
                    goes_on=self.goes_on,
                ) as work,
            ):
                processes.from_lead(partial(_write_plan, path, cells))
                while waiting := ready(cells, done.runs):
                    done.runs.update(failed_with_others(waiting, done) or work(waiting))
                    if len(done.runs) == len(cells):
                        cells = _cells(processes.from_lead(plan))
                        processes.from_lead(partial(_write_plan, path, cells))
                if not was_finished:
                    processes.from_lead(lambda: _close(path, self.close(settings, done)))
        return Study.open(path)


def ready(cells: Sequence[Cell], finished: Collection[str]) -> list[Cell]:
    """Return the cells that are not finished and need nothing that is not."""
    waiting = [cell for cell in cells if cell.name not in finished]
    found = [cell for cell in waiting if all(need in finished for need in cell.needs)]
    stuck = [cell.name for cell in waiting]
    assert found or not waiting, f"these cells wait for cells that are not planned: {stuck}"
    return found


def failed_with_others(waiting: Sequence[Cell], done: Finished) -> dict[str, Run]:
    """Write down as failed what cannot be run because a cell that it needs has failed."""
    failed = {}
    for cell in waiting:
        for need in cell.needs:
            if failure := done.runs[need].failure:
                place, why = RunPlace(done.folder, cell.name), failure["message"]
                failed[cell.name] = close_as_failed(
                    cell.job,
                    cell.settings,
                    place,
                    in_a_word=failure["kind"],
                    message=f"it needs {need}, which failed: {why}",
                )
    return failed


def refuse_wrong_cells(cells: Sequence[Cell]) -> None:
    """Refuse, before the first cell, what would stop a later one: its name or how it trains."""
    names = Counter(cell.name.casefold() for cell in cells)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise UserError(
            f"two cells of this study would be called {', '.join(twice)}: give every value once."
        )
    for cell in cells:
        if isinstance(training := getattr(cell.settings, "training", None), TrainingSettings):
            try:
                check_training(training)
            except UserError as error:
                raise UserError(f"{cell.name}: {error}") from None


def _write_plan(path: Path, cells: Sequence[Cell]) -> None:
    """Write down every cell and the command that runs it."""
    described = []
    for cell in cells:
        config = f"cells/{cell.name}.yaml"
        command = f"attnlab run {cell.job} --config {config} --name {cell.name} --runs ."
        values = {"name": cell.name, "job": cell.job, "needs": list(cell.needs)}
        described.append(({**values, "command": command}, to_yaml(cell.settings)))
    with our_turn(path):  # another command may work on the same study
        Study.open(path).plan(described)


def _close(path: Path, outcome: StudyOutcome) -> None:
    """Write down what a study came to, unless another command has done so."""
    with our_turn(path):
        study = Study.open(path)
        if not study.is_closed:
            study.close(outcome)


def _planned_before(path: Path) -> list[dict[str, Any]]:
    """Read the cells of a study again, as they were run."""
    return [
        {**cell, "settings": Run.open(path / cell["name"]).config["settings"]}
        for cell in Study.open(path).cells
    ]


def _cells(planned: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Read cells that came as plain values: from the lead process, or from a run directory."""
    return [
        Cell(
            cell["name"],
            cell["job"],
            from_dict(find_job(cell["job"]).settings, cell["settings"], origin=cell["name"]),
            tuple(cell.get("needs", ())),
        )
        for cell in planned
    ]


@contextmanager
def _begun(
    job: str, settings: Any, place: RunPlace, *, title: str, processes: Processes
) -> Iterator[None]:
    """Begin or continue the study of these settings; a mistake before step 1 leaves nothing."""
    studies: list[Study] = []  # in the lead process, the one that it has begun

    def begin() -> None:
        studies.append(Study.begin(job, to_dict(settings), place, title=title))

    processes.from_lead(begin)
    try:
        yield
    except BusyError:
        raise  # another process works in it
    except UserError:
        for study in studies:
            study.discard_if_untouched()
        raise
