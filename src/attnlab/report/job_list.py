"""The list of submitted jobs: what the queue says of each, and how far its run is."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import RenderableType

from attnlab.cluster.slurm import QueuedJob
from attnlab.cluster.submission import Submission
from attnlab.report.one_line import OneLineTable
from attnlab.report.run_list import FINISHED, age, progress, run_line, study_line
from attnlab.runs.directory import CONFIG, Run
from attnlab.runs.study import STUDY, Study

NOT_BEGUN = "not begun"


@dataclass(frozen=True)
class JobLine:
    """What the list says about one submission."""

    name: str
    ids: Sequence[str]
    """The jobs in the queue, or else the last one."""
    state: str
    """While a job is in the queue, what Slurm says; afterwards, what the run directory says."""
    progress: str
    requeues: int
    """How often its jobs were requeued, as far as Slurm still knows them."""
    submitted: float
    """In seconds since 1970."""

    @property
    def is_finished(self) -> bool:
        """Whether its run has a record."""
        return self.state == FINISHED

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def job_line(submission: Submission, queue: Sequence[QueuedJob]) -> JobLine:
    """Sum up a submission."""
    queued = submission.queued(queue)
    alive = [job for job in queued if not job.is_over]
    jobs = submission.since_launch()
    state, how_far = _run_state(submission)
    ids = dict.fromkeys(job.job_id.partition("_")[0] for job in alive)
    return JobLine(
        name=submission.run.name,
        ids=list(ids) or [jobs[-1]["id"]],
        state=_queue_state(alive) if alive else state,
        progress=how_far,
        requeues=sum(job.restarts for job in queued),
        submitted=jobs[0]["time"],
    )


def jobs_view(lines: Sequence[JobLine]) -> RenderableType:
    """Show one line per submission."""
    rows = [
        [
            line.name,
            ",".join(line.ids),
            line.state,
            line.progress,
            str(line.requeues),
            age(time.time() - line.submitted),
        ]
        for line in lines
    ]
    columns = ["name", "job", "state", "progress", "requeued", "age"]
    return OneLineTable(columns, rows, shrinkable=(0, 2))


def _queue_state(alive: Sequence[QueuedJob]) -> str:
    """Say what Slurm does with the jobs, and why those wait that do."""
    states = Counter(_described(job) for job in alive)
    return ", ".join(
        state if count == 1 else f"{count} {state}" for state, count in sorted(states.items())
    )


def _described(job: QueuedJob) -> str:
    is_waiting = job.state == "PENDING" and job.reason not in ("", "None")
    return f"{job.state.lower()} ({job.reason})" if is_waiting else job.state.lower()


def _run_state(submission: Submission) -> tuple[str, str]:
    """Return how a run or study stands, and how far it is."""
    path = submission.run
    if (path / STUDY).exists():
        study = Study.open(path)
        line = study_line(study, study.begun(), path.parent)
        return line.state, line.progress
    if (path / CONFIG).exists():
        run = Run.open(path)
        return run_line(run, path.parent).state, "" if run.finished else progress(run)
    return NOT_BEGUN, ""
