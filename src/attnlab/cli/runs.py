"""``attnlab runs …``: look at what was run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import AsJson, RunsFolder, group, run_path
from attnlab.errors import UserError

app = group("Look at what was run.")


@app.command("list", epilog="Example: attnlab runs list --json")
def list_(runs: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """List the runs of a folder and of the studies in it, newest first."""
    from attnlab.runs.directory import list_runs

    found, problems = list_runs(runs)
    if as_json:
        typer.echo(json.dumps([{"name": run.name, **run.config} for run in found], indent=2))
    elif not found:
        typer.echo(f"no runs in {runs}.")
    else:
        from rich.console import Console

        from attnlab.report.terminal import runs_table

        Console().print(runs_table(found, runs))
    for problem in problems:
        typer.echo(f"attnlab: {problem}", err=True)


def _complete_run(incomplete: str) -> list[str]:
    """Offer the runs of the default folder to the shell."""
    return [path.name for path in Path("runs").glob(f"{incomplete}*") if path.is_dir()]


RUN = typer.Argument(help="Name or path of a run.", autocompletion=_complete_run)
SPLIT = typer.Option(help="Split to compare on; test if all have it, else dev.")
METRIC = typer.Option(
    help="What to compare by (f1 is macro-averaged); without it, what the runs were scored by.",
    metavar="accuracy|f1|perplexity",
)
OUT = typer.Option(help="Folder for the page; without it, report/ in the first run.")


@app.command(epilog="Example: attnlab runs show knowledge-demo-1a2b3c4d")
def show(
    run: Annotated[str, RUN],
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show one run: what it was asked, how far it is, what came out; or the runs of a study."""
    from rich.console import Console

    from attnlab.report.terminal import run_story, runs_table
    from attnlab.runs.directory import Run
    from attnlab.runs.files import read_json
    from attnlab.runs.study import STUDY, Study

    path = run_path(run, runs)
    if (path / STUDY).exists():
        study = Study.open(path)
        if as_json:
            typer.echo(json.dumps(read_json(path / STUDY), indent=2))
        else:
            Console().print(runs_table(study.begun(), path.parent))
        return
    opened = Run.open(path)
    if as_json:
        record = opened.record if opened.finished else None
        typer.echo(json.dumps({"config": opened.config, "record": record}, indent=2))
    else:
        Console().print(run_story(opened))


@app.command(epilog="Example: attnlab runs compare runs/recall runs/synthesizer")
def compare(
    run: Annotated[list[str], RUN],
    split: Annotated[str | None, SPLIT] = None,
    metric: Annotated[str | None, METRIC] = None,
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Compare runs on the same examples: intervals, paired tests, and what to distrust.

    Runs that differ in nothing but the seed count as one condition with several seeds.
    """
    from attnlab.runs.directory import Run

    if len(set(run)) < 2:
        raise UserError("a comparison needs at least two different runs.")
    opened = [Run.open(run_path(name, runs)) for name in dict.fromkeys(run)]

    from rich.console import Console

    from attnlab.evaluation.comparison import compare as compare_runs
    from attnlab.report.comparison import comparison_json, comparison_view

    found = compare_runs(opened, split=split, metric=metric)
    if as_json:
        typer.echo(json.dumps(comparison_json(found), indent=2))
    else:
        Console().print(comparison_view(found), soft_wrap=False)


@app.command(epilog="Example: attnlab runs report knowledge-demo-1a2b3c4d")
def report(
    run: Annotated[list[str], RUN],
    out: Annotated[Path | None, OUT] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a self-contained page about runs, or about one study, with every figure as a file."""
    from attnlab.recipes.reporting import report_on

    paths = [run_path(name, runs) for name in run]
    typer.echo(report_on(paths, out, as_markdown=markdown))
