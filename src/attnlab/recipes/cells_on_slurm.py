"""The cells of a study as jobs on Slurm: those that may run now are one array.

The job that plans a study ends when it has submitted its cells; the same script, submitted to begin
when they have ended, goes on. So nothing waits in an allocation, and no time limit ends a study.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.console import Console

from attnlab.cluster import slurm
from attnlab.cluster.process import MEMORY, failure_file, last_line, noted_failure
from attnlab.cluster.submission import Submission, Submitted
from attnlab.environment import FAILURE
from attnlab.errors import HandedOver, RunError
from attnlab.recipes.cells import Cell, Here, Work, command_of
from attnlab.runs.directory import RECORD, Run
from attnlab.runs.lock import is_held
from attnlab.runs.study import CELLS


@contextmanager
def handing_out(
    folder: Path, at_once: int | None, console: Console, *, goes_on: bool = False
) -> Iterator[Work]:
    """Return what submits the cells of the study in a folder, so many to run at a time.

    With ``goes_on``, a cell that fails by itself is a result, and the others are run.
    """
    yield OnSlurm(Here(folder, console, goes_on=goes_on), at_once or 0)


@dataclass
class OnSlurm:
    """Submits every cell that may run, and hands over to the job that comes after them."""

    here: Here
    at_once: int = 0
    """How many cells run at a time; 0 is as many as there is room for."""

    @cached_property
    def submission(self) -> Submission:
        """What was submitted for the study."""
        return Submission.of(self.here.folder)

    def __call__(self, waiting: Sequence[Cell]) -> dict[str, Run]:
        """Return a cell that is finished; if none is, submit all and end with ``HandedOver``."""
        if done := [cell for cell in waiting if (self._folder(cell) / RECORD).exists()]:
            return self.here(done)  # which looks whether it is what these settings come to
        arrays, planners = self._in_the_queue()
        if not arrays:
            if failed := self._failed(waiting):
                return failed
            self._refuse_others_and_failed(waiting)
            arrays = [self._submit(waiting)]
        planners = planners or [self.submission.submit_again(arrays)]
        raise HandedOver(
            f"the cells that may run are job {', '.join(arrays)}; job {planners[0]} goes on when"
            " they have ended."
        )

    def _folder(self, cell: Cell) -> Path:
        return self.here.folder / cell.name

    def _in_the_queue(self) -> tuple[list[str], list[str]]:
        """Return arrays, and what comes after them: a requeued job finds what it has submitted."""
        ours = os.environ.get("SLURM_JOB_ID")
        alive = {job.job_id.partition("_")[0] for job in self.submission.alive()} - {ours}
        jobs = [job for job in self.submission.since_launch() if job["id"] in alive]
        arrays = [job["id"] for job in jobs if job["cells"]]
        return arrays, [job["id"] for job in jobs if not job["cells"]]

    def _log(self, cell: Cell) -> Path:
        """Return what the note of a cell's failure is named after; Slurm has the log itself."""
        return self.here.folder / CELLS / f"{cell.name}.log"

    def _tasks(self) -> dict[str, tuple[Submitted, int]]:
        """Return in which array each cell was submitted last, and as which task."""
        return {
            name: (job, task)
            for job in self.submission.since_launch()
            for task, name in enumerate(job["cells"])
        }

    def _failed(self, waiting: Iterable[Cell]) -> dict[str, Run]:
        """Write down what failed by itself, if that is a result."""
        if not self.here.goes_on:
            return {}
        states = {job.job_id: job.state for job in self.submission.queued(slurm.queue())}
        tasks = {name: f"{job['id']}_{task}" for name, (job, task) in self._tasks().items()}
        found = {}
        for cell in waiting:
            word, message = noted_failure(self._log(cell))
            if states.get(tasks.get(cell.name, "")) == slurm.OUT_OF_MEMORY:
                word, message = MEMORY, "Slurm killed it: it needed more memory than it asked for."
            if word:
                found[cell.name] = self.here.failed(cell, word, message)
        return found

    def _submit(self, cells: Sequence[Cell]) -> str:
        commands = []
        for cell in cells:
            note = failure_file(self._log(cell))
            note.unlink(missing_ok=True)
            commands.append(["env", f"{FAILURE}={note}", *command_of(cell, self.here.folder)])
        asked = self.submission.settings()
        batch = self.submission.array(commands, asked, at_once=self.at_once)
        return self.submission.submit_cells([cell.name for cell in cells], batch)

    def _refuse_others_and_failed(self, waiting: Iterable[Cell]) -> None:
        """Stop at a cell that some other command works on, or that has ended without a result."""
        logs = {name: self.submission.log(*where) for name, where in self._tasks().items()}
        for cell in waiting:
            if is_held(self._folder(cell)):
                raise RunError(
                    f"another command works on the cell {cell.name} of {self.here.folder}. Submit"
                    " the study again when that one has ended."
                )
            if log := logs.get(cell.name):
                said = last_line(log) if log.exists() else "it never began."
                raise RunError(
                    f"the cell {cell.name} ended without a result: {said} Its log is {log}. The"
                    " same command goes on from here."
                )
