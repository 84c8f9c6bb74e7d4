"""``attnlab run``: any job of the table, by its name and a file of settings."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from attnlab.cli.flags import Request, with_options
from attnlab.cli.options import (
    Assignments,
    ConfigFile,
    DryRun,
    Parallel,
    RunName,
    RunsFolder,
    ShowSettings,
    completing,
)
from attnlab.cli.placement import HAND_OUT, placement_parameters, take_placement
from attnlab.cli.show import show
from attnlab.errors import UserError

EXAMPLE = "Example: attnlab run knowledge-pretrain --config cell.yaml --name reader"


def run(
    job: Annotated[
        str | None,
        typer.Argument(
            help="Name of a job, see --list.",
            autocompletion=completing("attnlab.recipes.jobs:JOBS"),
        ),
    ] = None,
    config: ConfigFile = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
    parallel: Parallel = None,
    dry_run: DryRun = False,
    list_jobs: Annotated[bool, typer.Option("--list", help="List the jobs and stop.")] = False,
    hand_out: Annotated[bool, typer.Option(HAND_OUT, hidden=True)] = False,
    **values: Any,
) -> None:
    """Run any job by its name and a file of settings.

    The named commands, such as attnlab knowledge pretrain, are friendlier fronts to the same jobs;
    this one is for scripts, queues and the cells of studies. Repeat the command to resume, or to
    show what is finished.
    """
    from attnlab.recipes.jobs import JOBS

    if list_jobs:
        width = max(map(len, JOBS))
        for one in JOBS.values():
            typer.echo(f"{one.name:<{width}}  {one.summary}")
        return
    if job is None:
        raise UserError("give the name of a job; `attnlab run --list` shows them.")
    request = Request(
        *(job, {}, config, sets, name, runs, show_settings),
        parallel=parallel,
        dry_run=dry_run,
        placement=take_placement(values),
        hand_out=hand_out,
    )
    settings = request.settings()
    if not request.submit_or_plan(settings):
        show(request.runner()(settings))


def placed_run() -> Callable[..., None]:
    """Return the command with the options that say where it runs."""
    *own, _ = inspect.signature(run).parameters.values()
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    return with_options(lambda **values: run(**values), [*parameters, *placement_parameters()])


ABOUT = inspect.getdoc(run)
