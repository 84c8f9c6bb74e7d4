"""``attnlab runs …``: look at what was run."""

from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import AsJson, RunsFolder, group
from attnlab.cli.show import print_json, print_view
from attnlab.errors import UserError

app = group("Look at what was run.")


@app.command("list", epilog="Example: attnlab runs list --json")
def list_(runs: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """List the runs of a folder and of the studies in it, newest first."""
    from attnlab.runs.listing import list_runs

    found, problems = list_runs(runs)
    if as_json:
        print_json([{"name": run.name, **run.config} for run in found])
    elif not found:
        typer.echo(f"no runs in {runs}.")
    else:
        from attnlab.report.terminal import runs_table

        print_view(runs_table(found, runs))
    for problem in problems:
        typer.echo(f"attnlab: {problem}", err=True)


def _complete_run(incomplete: str) -> list[str]:
    """Offer the runs of the default folder to the shell."""
    return [path.name for path in Path("runs").glob(f"{incomplete}*") if path.is_dir()]


RUN = typer.Argument(help="Name or path of a run.", autocompletion=_complete_run)
SPLIT = typer.Option(help="Split to compare on; test if all have it, else dev.")
METRIC = typer.Option(
    help="Metric to compare by (f1 is macro-averaged); without it, the runs' own.",
    metavar="accuracy|f1|perplexity",
)
OUT = typer.Option(help="Folder for the page; without it, report/ in the first run.")


@app.command(epilog="Example: attnlab runs show knowledge-demo-1a2b3c4d")
def show(
    run: Annotated[str, RUN],
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show one run: settings, progress and results; or the runs of a study."""
    from attnlab.report.terminal import run_story, runs_table
    from attnlab.runs.directory import Run
    from attnlab.runs.files import read_json
    from attnlab.runs.listing import locate
    from attnlab.runs.study import STUDY, Study

    path = locate(run, runs)
    if (path / STUDY).exists():
        if as_json:
            print_json(read_json(path / STUDY))
        else:
            print_view(runs_table(Study.open(path).begun(), path.parent))
        return
    opened = Run.open(path)
    if as_json:
        record = opened.record if opened.finished else None
        print_json({"config": opened.config, "record": record})
    else:
        print_view(run_story(opened))


@app.command(epilog="Example: attnlab runs compare runs/recall runs/synthesizer")
def compare(
    run: Annotated[list[str], RUN],
    split: Annotated[str | None, SPLIT] = None,
    metric: Annotated[str | None, METRIC] = None,
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Compare runs on the same examples: intervals, paired tests, and warnings.

    Runs that differ only in their seed count as one condition with several seeds.
    """
    from attnlab.runs.directory import Run
    from attnlab.runs.listing import locate

    if len(set(run)) < 2:
        raise UserError("a comparison needs at least two different runs.")
    opened = [Run.open(locate(name, runs)) for name in dict.fromkeys(run)]

    from attnlab.evaluation.comparison import compare as compare_runs
    from attnlab.report.sections.comparison import comparison_blocks, comparison_json
    from attnlab.report.terminal import blocks_view

    found = compare_runs(opened, split=split, metric=metric)
    if as_json:
        print_json(comparison_json(found))
    else:
        print_view(blocks_view(comparison_blocks(found)))


@app.command(epilog="Example: attnlab runs report knowledge-demo-1a2b3c4d")
def report(
    run: Annotated[list[str], RUN],
    out: Annotated[Path | None, OUT] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a self-contained page about runs, or about one study, with every figure as a file."""
    from attnlab.recipes.reporting import report_on
    from attnlab.runs.listing import locate

    paths = [locate(name, runs) for name in run]
    typer.echo(report_on(paths, out, as_markdown=markdown))
