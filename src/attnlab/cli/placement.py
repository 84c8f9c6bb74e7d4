"""Where a job runs: here, or on Slurm. The options for it, and submitting."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnlab.cli.show import say_next
from attnlab.errors import UserError

if TYPE_CHECKING:
    from attnlab.cli.flags import Flag, Request
    from attnlab.cluster.script import Batch
    from attnlab.cluster.settings import SlurmSettings
    from attnlab.cluster.submission import Submission
    from attnlab.config import Given, SettingField

LOCAL, SLURM = "local", "slurm"
HAND_OUT = "--hand-out"
"""What a job on Slurm gives the study that it runs, whose cells are to become jobs, too."""
SLURM_FLAGS = ("partition", "nodes", "gpus", "cpus", "time", "account", "qos")
"""Settings of Slurm that have a flag; a profile may give all of them."""
METAVARS = {"partition": "NAME", "time": "TIME", "account": "NAME", "qos": "NAME"}
On = Annotated[
    str,
    typer.Option("--on", help="Where to run: here, or submitted to Slurm.", metavar="local|slurm"),
]
Profile = Annotated[
    Path | None,
    typer.Option(
        "--profile",
        help="YAML file of a cluster's settings for --on slurm: these flags, modules, setup lines.",
        metavar="FILE",
    ),
]


@dataclass(frozen=True)
class Placement:
    """Where the user wants a job to run."""

    on: str = LOCAL
    profile: Path | None = None
    flags: "Mapping[str, Given]" = field(default_factory=dict)
    """What Slurm is to be asked for, as far as it was given."""

    @property
    def is_submitted(self) -> bool:
        """Whether Slurm runs it."""
        return self.on == SLURM

    def check(self) -> None:
        """Refuse another place, and what is only for Slurm where Slurm is not meant."""
        if self.on not in (LOCAL, SLURM):
            raise UserError(f"--on {self.on!r} is not possible: give {LOCAL} or {SLURM}.")
        given = ["--profile"] if self.profile else [f"--{key}" for key in self.flags]
        if given and not self.is_submitted:
            raise UserError(f"{given[0]} is for jobs on Slurm: add --on {SLURM}, or leave it out.")

    def settings(self) -> "SlurmSettings":
        """Return what Slurm is asked for: the flags over the profile over the defaults."""
        from attnlab.cluster.settings import SlurmSettings
        from attnlab.config import resolve

        return resolve(SlurmSettings(), file=self.profile, flags=self.flags)


def placement_flags() -> "list[tuple[Flag, SettingField]]":
    """Return the flags that ask Slurm for something, each with its setting."""
    from attnlab.cli.flags import Flag
    from attnlab.cluster.settings import SlurmSettings
    from attnlab.config import describe

    fields = {one.key: one for one in describe(SlurmSettings)}
    return [(Flag(key, metavar=METAVARS.get(key)), fields[key]) for key in SLURM_FLAGS]


def placement_parameters() -> list[inspect.Parameter]:
    """Return the options as typer reads them."""
    from attnlab.cluster.settings import SlurmSettings

    defaults = SlurmSettings()
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter("on", keyword, default=LOCAL, annotation=On),
        inspect.Parameter("profile", keyword, default=None, annotation=Profile),
        *(
            flag.parameter(setting, default=getattr(defaults, flag.key))
            for flag, setting in placement_flags()
        ),
    ]


def take_placement(values: dict[str, Any]) -> Placement:
    """Take out of a command's values what says where it runs."""
    given = {
        flag.key: flag.given(value, setting.annotation)
        for flag, setting in placement_flags()
        if (value := values.pop(flag.variable)) is not None
    }
    placement = Placement(values.pop("on"), values.pop("profile"), given)
    placement.check()
    return placement


def submit(request: "Request", settings: Any) -> None:
    """Submit a job or study, and return at once; with --dry-run, only print the script."""
    from attnlab.cluster.script import script_of
    from attnlab.cluster.submission import Submission
    from attnlab.config import to_dict, to_yaml
    from attnlab.runs.lookup import as_typed

    if request.outputs:
        raise UserError(
            f"--outputs cannot be used with --on {SLURM}: when the job has ended, repeat the"
            f" command without --on {SLURM}, which then writes the file."
        )
    asked = request.placement.settings()
    path = request.place.path(request.job, to_dict(settings)).resolve()
    submission = Submission.of(path)
    batch = _batch(request, submission, asked)
    if request.dry_run:
        typer.echo(script_of(batch), nl=False)
        return
    if _is_finished(request, to_dict(settings)):
        typer.echo(f"{path.name} is finished; nothing is submitted.")
        say_next(f"attnlab runs show {as_typed(path)}")
        return
    if job_id := submission.launch(to_yaml(settings), asked, batch):
        typer.echo(f"job {job_id} is submitted; its run is {path}")
    else:
        waiting = ", ".join(one.job_id for one in submission.alive())
        typer.echo(f"{path.name} was submitted before, and job {waiting} is still in the queue")
    say_next(f"attnlab jobs wait {as_typed(path)}")


def _batch(request: "Request", submission: "Submission", asked: "SlurmSettings") -> "Batch":
    """Return what is submitted first: the run, or what plans the study and submits its cells."""
    from attnlab.recipes.jobs import find_job

    if not find_job(request.job).is_study:
        return submission.batch([submission.command(request.job)], asked)
    at_once = ["--parallel", str(request.parallel)] if request.parallel else []
    planning = replace(asked, nodes=1, gpus=min(asked.gpus, 1))  # one process
    return submission.batch([submission.command(request.job, HAND_OUT, *at_once)], planning)


def _is_finished(request: "Request", settings: dict[str, Any]) -> bool:
    """Say whether there is nothing left to do; refuse a run of that name with other settings."""
    from attnlab.runs.directory import Run
    from attnlab.runs.folders import refuse_other_settings
    from attnlab.runs.study import STUDY, Study, read_study

    path = request.place.path(request.job, settings)
    if (path / STUDY).exists():
        wanted = {"job": request.job, "settings": settings}
        refuse_other_settings(f"study {path}", read_study(path), wanted)
        return Study.open(path).is_finished
    run = Run.find(request.job, settings, request.place)
    return run is not None and run.finished
