"""``attnlab runs …``: look at what was run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import AsJson, RunsFolder

app = typer.Typer(help="Look at what was run.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list", epilog="Example: attnlab runs list --json")
def list_(runs: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """List the runs of a folder, newest first."""
    from attnlab.runs.directory import list_runs

    found, problems = list_runs(runs)
    if as_json:
        typer.echo(json.dumps([{"name": run.name, **run.config} for run in found], indent=2))
    elif not found:
        typer.echo(f"no runs in {runs}.")
    else:
        from rich.console import Console

        from attnlab.report.terminal import runs_table

        Console().print(runs_table(found))
    for problem in problems:
        typer.echo(f"attnlab: {problem}", err=True)


def _complete_run(incomplete: str) -> list[str]:
    """Offer the runs of the default folder to the shell."""
    return [path.name for path in Path("runs").glob(f"{incomplete}*") if path.is_dir()]


@app.command(epilog="Example: attnlab runs show knowledge-demo-1a2b3c4d")
def show(
    run: Annotated[
        str, typer.Argument(help="Name or path of a run.", autocompletion=_complete_run)
    ],
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show one run: what it was asked, how far it is, what came out."""
    from attnlab.runs.directory import Run

    by_name = runs / run
    opened = Run.open(by_name if by_name.exists() or not Path(run).exists() else Path(run))
    if as_json:
        record = opened.record if opened.finished else None
        typer.echo(json.dumps({"config": opened.config, "record": record}, indent=2))
        return

    from rich.console import Console

    from attnlab.report.terminal import run_story

    Console().print(run_story(opened))
