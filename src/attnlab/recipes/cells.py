"""The cells of a study, and who runs them: this process one by one, or several side by side."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.cluster.pool import Pool
from attnlab.cluster.process import Ended
from attnlab.errors import RunError, StoppedError, UserError
from attnlab.guard import explain, in_a_word
from attnlab.recipes.failed_cells import close_as_failed
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.lock import is_held
from attnlab.runs.study import CELLS
from attnlab.training.hardware import THREADS, all_threads
from attnlab.training.signals import StopRequest


@dataclass(frozen=True)
class Cell:
    """One run of a study."""

    name: str
    job: str
    settings: Any
    """Paths in it are absolute: a cell may be run from anywhere."""
    needs: tuple[str, ...] = ()
    """Cells that must be finished before this one can begin."""


Work = Callable[[Sequence[Cell]], Mapping[str, Run]]
"""Takes the cells that may run now, and returns those that are finished: one at least, or none if
it is worth asking again."""


@contextmanager
def workers(
    folder: Path, parallel: int, console: Console, *, processes: int, goes_on: bool = False
) -> Iterator[Work]:
    """Return who works on the cells of the study in a folder, ``parallel`` of them at a time.

    With ``goes_on``, a cell that fails by itself is a result, and the others are run.
    """
    here = Here(folder, console, goes_on=goes_on)
    if parallel == 1:
        yield here
        return
    if processes > 1:
        raise UserError(
            f"--parallel {parallel} starts processes of its own: leave it out under torchrun."
        )
    with StopRequest() as stop, Pool(parallel, threads_of_each(parallel)) as pool:
        yield SideBySide(here, pool, stop)


def threads_of_each(parallel: int) -> dict[str, str]:
    """Return what the environment tells each of several processes that share the cores."""
    if parallel == 1 or os.environ.get(THREADS):
        return {}
    return {THREADS: str(all_threads(local_processes=parallel))}


def command_of(cell: Cell, folder: Path) -> list[str]:
    """Return the command line that runs a cell of the study in a folder, from anywhere."""
    config = folder / CELLS / f"{cell.name}.yaml"
    argv = [sys.executable, "-m", "attnlab", "run", cell.job, "--config", str(config)]
    return [*argv, "--name", cell.name, "--runs", str(folder)]


@dataclass(frozen=True)
class Here:
    """Runs the first cell that may run, in this process."""

    folder: Path
    console: Console
    goes_on: bool = False
    """Whether a cell that fails by itself is a result."""

    def __call__(self, waiting: Sequence[Cell]) -> dict[str, Run]:
        """Run one cell, or show that it is finished."""
        cell, place = waiting[0], RunPlace(self.folder, waiting[0].name)
        try:
            run = find_job(cell.job).run(cell.settings, place=place, console=self.console)
        except Exception as error:
            word = in_a_word(error) if self.goes_on else ""
            if not word:
                raise
            return {cell.name: self.failed(cell, word, explain("attnlab", error)[0])}
        return {cell.name: run}

    def failed(self, cell: Cell, word: str, message: str) -> Run:
        """Write down that a cell failed, and say so."""
        self.say(f"{cell.name}: {word}: {message} The study goes on.")
        place = RunPlace(self.folder, cell.name)
        return close_as_failed(cell.job, cell.settings, place, in_a_word=word, message=message)

    def say(self, text: str) -> None:
        """Show a notice to the user."""
        self.console.print(text, highlight=False, soft_wrap=True)


@dataclass
class SideBySide:
    """Other processes run cells side by side; a cell that some other command works on is left."""

    here: Here
    pool: Pool
    stop: StopRequest
    _said: set[str] = field(default_factory=set)

    def __call__(self, waiting: Sequence[Cell]) -> dict[str, Run]:
        """Start what there is room for, and return what is finished by now."""
        if self.stop.signal_number:
            raise StoppedError(
                f"stopped; everything is saved in {self.here.folder}. The same command goes on"
                " from there.",
                signal_number=self.stop.signal_number,
            )
        if done := [cell for cell in waiting if self._is_finished(cell)]:
            return self.here(done)  # which looks whether it is what these settings come to
        for cell in waiting:
            if self.pool.has_room and cell.name not in self.pool.running and not self._held(cell):
                self._start(cell)
        by_name = {cell.name: cell for cell in waiting}
        failed = {}
        for ended in self.pool.wait():
            if ended.code and ended.in_a_word and self.here.goes_on:
                cell = by_name[ended.name]
                failed[cell.name] = self.here.failed(cell, ended.in_a_word, ended.said)
            else:
                self._refuse_failed(ended)
        return failed

    def _is_finished(self, cell: Cell) -> bool:
        there = (self.here.folder / cell.name / RECORD).exists()
        return there and cell.name not in self.pool.running

    def _held(self, cell: Cell) -> bool:
        held = is_held(self.here.folder / cell.name)
        if held and cell.name not in self._said:
            self._said.add(cell.name)
            self.here.say(f"{cell.name}: another command works on it; waiting for that one")
        return held

    def _start(self, cell: Cell) -> None:
        log = self.here.folder / CELLS / f"{cell.name}.log"
        self.pool.start(cell.name, command_of(cell, self.here.folder), log=log)
        self.here.say(f"{cell.name}: started")

    def _refuse_failed(self, ended: Ended) -> None:
        """Say how a cell ended; one that another command has taken meanwhile is waited for."""
        if not ended.code:
            self.here.say(f"{ended.name}: finished")
            return
        folder = self.here.folder
        is_taken = is_held(folder / ended.name) or (folder / ended.name / RECORD).exists()
        if not self.stop.signal_number and not is_taken:
            raise RunError(
                f"the cell {ended.name} ended with exit code {ended.code}: {ended.said} Its"
                f" log is {folder / CELLS / ended.name}.log. The same command goes on from here."
            )
