"""``attnlab jobs …``: what was submitted to Slurm, as the queue and the run directories have it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnlab.cli.options import AsJson, RunsFolder, group
from attnlab.cli.show import print_json, print_view, say_next
from attnlab.errors import RunError, UserError

if TYPE_CHECKING:
    from attnlab.cluster.submission import Submission
    from attnlab.report.job_list import JobLine

app = group("Look at, wait for and cancel jobs on Slurm.")
PAUSE = 2.0
"""Seconds between two looks at the queue."""


def complete_job(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the shell what was submitted."""
    from attnlab.cluster.submission import Submission
    from attnlab.runs.lookup import default_root

    root = Path(ctx.params.get("runs") or default_root())
    names = [one.run.name for one in Submission.all_in(root)]
    return [name for name in names if name.startswith(incomplete)]


JOB = typer.Argument(
    help="Name of a run or study that was submitted, or the id of its job.",
    autocompletion=complete_job,
)
ONE = typer.Argument(
    help="Name of a run or study that was submitted, STUDY/CELL, or the id of its job.",
    autocompletion=complete_job,
)


@app.command("list", epilog="Example: attnlab jobs list")
def list_(runs: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """List what was submitted, newest first: state, progress, and how often each was requeued."""
    from attnlab.report.job_list import jobs_view

    lines = _lines(runs)
    if as_json:
        print_json([line.as_json() for line in lines])
    elif not lines:
        typer.echo(f"nothing was submitted from {runs}.")
    else:
        print_view(jobs_view(lines))
        say_next(f"attnlab jobs logs {lines[0].name}")


@app.command(epilog="Example: attnlab jobs logs classify-train-1a2b3c4d")
def logs(job: Annotated[str, ONE], runs: RunsFolder = Path("runs")) -> None:
    """Print the log of a run's newest job; of a study, that of its planning job or of one cell."""
    name, _, cell = job.partition("/")
    submission = find_submission(name, runs)
    paths = [
        submission.log(one, task)
        for one in submission.submitted()
        for task, known in enumerate(one["cells"] or [""])
        if known == cell
    ]
    if not paths:
        raise UserError(f"{submission.run.name} has submitted no cell {cell!r}.")
    there = [path for path in paths if path.exists()]
    if not there:
        raise UserError(f"{job} has no log yet: {paths[-1]} appears when its job begins.")
    typer.echo(there[-1].read_text(encoding="utf-8", errors="replace"), nl=False)


@app.command(epilog="Example: attnlab jobs wait classify-train-1a2b3c4d")
def wait(jobs: Annotated[list[str], JOB], runs: RunsFolder = Path("runs")) -> None:
    """Wait until jobs have ended; exit with 1 if any of them did not finish."""
    submissions = [find_submission(name, runs) for name in jobs]
    while any(one.alive() for one in submissions):
        time.sleep(PAUSE)
    lines = {line.name: line for line in _lines(runs)}
    ended = [lines[one.run.name] for one in submissions]
    for line in ended:
        typer.echo(f"{line.name} is {line.state}")
    if left := [line for line in ended if not line.is_finished]:
        raise RunError(
            f"{left[0].name} has ended and is not finished; `attnlab jobs logs {left[0].name}` says"
            " why. Submit it again to go on."
        )


@app.command(epilog="Example: attnlab jobs cancel classify-train-1a2b3c4d")
def cancel(jobs: Annotated[list[str], JOB], runs: RunsFolder = Path("runs")) -> None:
    """Cancel jobs. A run saves and ends; submit it again, or run it here, to resume it."""
    from attnlab.cluster import slurm

    for submission in [find_submission(name, runs) for name in jobs]:
        alive = {one.job_id.partition("_")[0] for one in submission.alive()}
        ids = sorted(alive, key=int, reverse=True)  # before what it waits for, so that none begins
        if not ids:
            typer.echo(f"{submission.run.name} has no job in the queue")
            continue
        slurm.cancel(ids)
        typer.echo(f"{submission.run.name}: job {', '.join(ids)} is cancelled")


def find_submission(name: str, root: Path) -> "Submission":
    """Return what was submitted under the name of a run, or has that job id."""
    from attnlab.cluster.submission import Submission
    from attnlab.errors import did_you_mean

    known = Submission.all_in(root)
    is_it: tuple[Callable[[Submission], bool], ...] = (
        lambda one: one.run.name == name,
        lambda one: name in [job["id"] for job in one.submitted()],
    )
    for fits in is_it:
        if found := next(filter(fits, known), None):
            return found
    near = did_you_mean(name, [one.run.name for one in known])
    raise UserError(
        f"{name!r} was not submitted from {root}.{near} `attnlab jobs list` lists what was."
    )


def _lines(root: Path) -> "list[JobLine]":
    from attnlab.cluster import slurm
    from attnlab.cluster.submission import Submission
    from attnlab.report.job_list import job_line

    submissions = Submission.all_in(root)
    queue = slurm.queue() if submissions else []
    return [job_line(one, queue) for one in submissions]
