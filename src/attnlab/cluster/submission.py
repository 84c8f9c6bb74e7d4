"""What was submitted for a run or study: a folder ``.jobs/NAME/`` next to the run.

    settings.yaml       the run's settings, as its command reads them
    slurm.yaml          what Slurm is asked for
    job.sh              the script; of a study, it plans, and submits cells.sh and itself again
    cells.sh            the array of the cells that were submitted last
    submitted.jsonl     one line per job: id, cells of an array, time
    JOB.log             what a job printed; JOB_TASK.log for a task of an array

Only the run directory says what came out: job ids may be given again.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from attnlab.cluster import slurm
from attnlab.cluster.script import Batch, script_of
from attnlab.cluster.settings import SlurmSettings
from attnlab.cluster.slurm import QueuedJob
from attnlab.config import resolve, to_yaml
from attnlab.errors import UserError
from attnlab.runs.files import naming_the_path, read_json_lines, replace_file
from attnlab.runs.folders import folders_in, remove_folder
from attnlab.runs.lock import our_turn
from attnlab.runs.shapes import check_shape

JOBS = ".jobs"
SETTINGS, SLURM, LEDGER = "settings.yaml", "slurm.yaml", "submitted.jsonl"
SCRIPT, CELLS_SCRIPT = "job.sh", "cells.sh"


class Submitted(TypedDict):
    """One line of submitted.jsonl."""

    id: str
    cells: list[str]
    """The cells of an array, by task; none for a run, or for what plans a study."""
    time: float
    """In seconds since 1970."""
    is_launch: bool
    """Whether a user submitted it, and not a job."""


@dataclass(frozen=True)
class Submission:
    """The jobs of one run or study."""

    folder: Path

    @classmethod
    def of(cls, run: Path) -> "Submission":
        """Return the submission of the run or study in a folder, which need not exist yet."""
        return cls(run.parent / JOBS / run.name)

    @classmethod
    def all_in(cls, root: Path) -> list["Submission"]:
        """Return what was submitted for the runs of a folder, newest first."""
        found = [one for path in folders_in(root / JOBS) if (one := cls(path)).submitted()]
        return sorted(found, key=lambda one: one.submitted()[-1]["time"], reverse=True)

    @property
    def run(self) -> Path:
        """Where the run or study is, or will be."""
        return self.folder.parent.parent / self.folder.name

    @property
    def job_name(self) -> str:
        """What Slurm calls its jobs."""
        return f"attnlab-{self.folder.name}"

    def submitted(self) -> list[Submitted]:
        """Read which jobs were submitted, the oldest first."""
        path = self.folder / LEDGER
        lines = read_json_lines(path) if path.exists() else []
        for number, line in enumerate(lines, 1):
            check_shape(line, Submitted, f"{path}:{number}")
        return lines  # type: ignore[return-value]

    def since_launch(self) -> list[Submitted]:
        """Return the jobs since a user submitted it last."""
        jobs = self.submitted()
        starts = [place for place, job in enumerate(jobs) if job["is_launch"]]
        return jobs[starts[-1] :] if starts else jobs

    def queued(self, queue: Sequence[QueuedJob]) -> list[QueuedJob]:
        """Return its jobs in the queue; one of the same id and another name is somebody else's."""
        ids = {job["id"] for job in self.since_launch()}
        return [
            job
            for job in queue
            if job.job_id.partition("_")[0] in ids and job.name == self.job_name
        ]

    def alive(self) -> list[QueuedJob]:
        """Return its jobs that wait or run."""
        if not self.submitted():
            return []
        return [job for job in self.queued(slurm.queue()) if not job.is_over]

    def check_removable(self) -> None:
        """Refuse if one of its jobs waits or runs; where there is no Slurm, none can."""
        if slurm.is_here() and (jobs := self.alive()):
            name = self.run.name
            raise UserError(
                f"job {jobs[0].job_id} of {name} is in the queue: `attnlab jobs cancel {name}`"
                " first."
            )

    def remove(self) -> None:
        """Remove its scripts and logs, if anything was submitted."""
        if self.folder.exists():
            remove_folder(self.folder)

    def log(self, job: Submitted, task: int = 0) -> Path:
        """Return where a job, or a task of an array, has its log."""
        return self.folder / (f"{job['id']}_{task}.log" if job["cells"] else f"{job['id']}.log")

    def settings(self) -> SlurmSettings:
        """Read what Slurm is asked for."""
        return resolve(SlurmSettings(), file=self.folder / SLURM)

    def launch(self, settings: str, asked: SlurmSettings, batch: Batch) -> str | None:
        """Submit the first job; None if one of an earlier launch waits or runs."""
        with naming_the_path(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with our_turn(self.folder):  # another command may submit the same
            if self.alive():
                return None
            replace_file(self.folder / SETTINGS, settings.encode())
            replace_file(self.folder / SLURM, to_yaml(asked).encode())
            replace_file(self.folder / SCRIPT, script_of(batch).encode())
            return self._submit(SCRIPT, is_launch=True)

    def submit_cells(self, names: Sequence[str], batch: Batch) -> str:
        """Submit an array of cells."""
        replace_file(self.folder / CELLS_SCRIPT, script_of(batch).encode())
        return self._submit(CELLS_SCRIPT, cells=names)

    def submit_again(self, after: Sequence[str]) -> str:
        """Submit the first script again, to go on when other jobs have ended."""
        return self._submit(SCRIPT, after=after)

    def batch(self, commands: Sequence[Sequence[str]], asked: SlurmSettings) -> Batch:
        """Return what runs a command, with its log in this folder."""
        return Batch(self.job_name, commands, self._log_pattern("%j"), asked)

    def array(
        self, commands: Sequence[Sequence[str]], asked: SlurmSettings, *, at_once: int
    ) -> Batch:
        """Return what runs commands as the tasks of an array."""
        log = self._log_pattern("%A_%a")
        return Batch(self.job_name, commands, log, asked, at_once=at_once, is_array=True)

    def command(self, job: str, *more: str) -> list[str]:
        """Return the command line that runs the job of these settings."""
        words = [sys.executable, "-m", "attnlab", "run", job]
        words += ["--config", str(self.folder / SETTINGS)]
        return [*words, "--name", self.run.name, "--runs", str(self.run.parent), *more]

    def _log_pattern(self, ids: str) -> Path:
        return Path(str(self.folder).replace("%", "%%")) / f"{ids}.log"

    def _submit(
        self,
        script: str,
        *,
        cells: Sequence[str] = (),
        after: Sequence[str] = (),
        is_launch: bool = False,
    ) -> str:
        job_id = slurm.submit(self.folder / script, after=after)
        line = Submitted(id=job_id, cells=list(cells), time=time.time(), is_launch=is_launch)
        with naming_the_path(self.folder / LEDGER), (self.folder / LEDGER).open("a") as file:
            file.write(json.dumps(line) + "\n")
        return job_id
