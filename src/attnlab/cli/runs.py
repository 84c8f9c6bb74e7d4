"""``attnlab runs …``: look at what was run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from attnlab.cli.options import AsJson, RunsFolder, complete_run, group
from attnlab.cli.show import print_json, print_view, say_next, say_problems
from attnlab.errors import UserError

app = group("Look at what was run.")

RUN = typer.Argument(help="Name or path of a run or study.", autocompletion=complete_run)
CHECKED = typer.Argument(
    help="Name or path of a run or study; or a report in Markdown, REPORT.md.",
    metavar="RUN|REPORT.md",
    autocompletion=complete_run,
)
SPLIT = typer.Option(help="Split to compare on; test if all have it, else dev.")
METRIC = typer.Option(
    help="Metric to compare by (f1 is macro-averaged); without it, the runs' own.",
    metavar="accuracy|f1|perplexity|bits_per_character",
)
OUT = typer.Option(help="Folder for the page; without it, report/ in the first run.")
SORT = typer.Option(
    help="Order of the lines; age has the newest first.", metavar="age|name|job|score"
)
FILTER = typer.Option(
    "--filter",
    help="Only runs with this job, model, name, state or setting; can be repeated.",
    metavar="KEY=VALUE",
)
ALL = typer.Option("--all", help="Show predictions and the cells of studies too.")
UNFOLD = typer.Option("--unfold", help="Show the cells of studies, indented.")
YES = typer.Option("--yes", "-y", help="Do not ask.")
ALL_PAIRS = typer.Option("--all-pairs", help="Compare every pair, not only each with the best.")


@app.command("list", epilog="Example: attnlab runs list --filter job=classify-train --sort score")
def list_(
    study: Annotated[str | None, RUN] = None,
    sort: Annotated[str, SORT] = "age",
    filters: Annotated[list[str] | None, FILTER] = None,
    show_all: Annotated[bool, ALL] = False,
    unfold: Annotated[bool, UNFOLD] = False,
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """List runs, one line each, newest first; a study is one line, `runs list STUDY` unfolds it.

    Predictions (predict, evaluate) are hidden unless --all or a --filter by job asks for them.
    """
    from attnlab.recipes.jobs import JOBS
    from attnlab.report.run_list import filtered, lines_view, run_line, sorted_lines, study_line
    from attnlab.runs.listing import find_all
    from attnlab.runs.lookup import find_run

    wanted = filters or []
    found = find_all(runs)
    lines = [run_line(run, runs) for run in found.runs]
    lines += [study_line(one, cells, runs) for one, cells in found.studies]
    if study:
        name = str(find_run(study, runs).resolve())
        lines = [line for line in lines if str((runs / line.name).resolve()) == name]
    elif not show_all and not any(text.startswith("job=") for text in wanted):
        hidden = {job.name for job in JOBS.values() if job.is_prediction}
        lines = [line for line in lines if line.job not in hidden]
    lines = sorted_lines(filtered(lines, wanted), sort)
    if as_json:
        print_json([line.as_json() for line in lines])
    elif not lines:
        typer.echo(f"no runs in {runs}{' that fit' if wanted else ''}.")
    else:
        print_view(lines_view(lines, unfold=unfold or show_all or bool(study) or bool(wanted)))
        say_next(f"attnlab runs show {lines[0].name}")
    say_problems(found.problems)


@app.command(epilog="Example: attnlab runs show knowledge-demo-1a2b3c4d")
def show(
    run: Annotated[str, RUN],
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show one run: settings, progress and results; or the runs of a study."""
    from attnlab.report.run_list import lines_view, run_line
    from attnlab.report.terminal import run_story
    from attnlab.runs.directory import Run
    from attnlab.runs.lookup import find_run
    from attnlab.runs.study import STUDY, Study, read_study

    path = find_run(run, runs)
    if (path / STUDY).exists():
        if as_json:
            print_json(read_study(path))
        else:
            print_view(lines_view([run_line(r, path.parent) for r in Study.open(path).begun()]))
            say_next(f"attnlab runs report {run}")
        return
    opened = Run.open(path)
    if as_json:
        record = opened.record if opened.finished else None
        failed = {"failure": opened.failure} if opened.failure else {}
        print_json({"config": opened.config, "record": record, **failed})
    else:
        print_view(run_story(opened))
        say_next(f"attnlab runs report {run}")


@app.command(epilog="Example: attnlab runs compare recall synthesizer")
def compare(
    run: Annotated[list[str], RUN],
    split: Annotated[str | None, SPLIT] = None,
    metric: Annotated[str | None, METRIC] = None,
    all_pairs: Annotated[bool, ALL_PAIRS] = False,
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Compare runs on the same examples: what differs, intervals, paired tests, and warnings.

    Runs that differ only in their seed count as one condition with several seeds.
    """
    from attnlab.runs.directory import Run
    from attnlab.runs.lookup import find_run

    if len(set(run)) < 2:
        raise UserError("a comparison needs at least two different runs.")
    opened = [Run.open(find_run(name, runs)) for name in dict.fromkeys(run)]

    from attnlab.evaluation.comparison import compare as compare_runs
    from attnlab.report.document import Heading
    from attnlab.report.sections.comparison import comparison_blocks, comparison_json
    from attnlab.report.terminal import blocks_view

    found = compare_runs(opened, split=split, metric=metric, all_pairs=all_pairs)
    if as_json:
        print_json(comparison_json(found))
        return
    blocks = [Heading(found.title), *comparison_blocks(found, all_pairs=all_pairs)]
    print_view(blocks_view(blocks))
    say_next(f"attnlab runs report {' '.join(run)}")


@app.command(epilog="Example: attnlab runs diff reader writer")
def diff(
    first: Annotated[str, RUN],
    second: Annotated[str, RUN],
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show what differs between two runs: settings, resolved values, versions, then the scores."""
    from attnlab.report.run_diff import diff_blocks, diff_json
    from attnlab.report.terminal import blocks_view
    from attnlab.runs.directory import Run
    from attnlab.runs.lookup import find_run

    one, two = (Run.open(find_run(name, runs)) for name in (first, second))
    if as_json:
        print_json(diff_json(one, two))
        return
    print_view(blocks_view(diff_blocks(one, two)))
    if one.finished and two.finished:
        say_next(f"attnlab runs compare {first} {second}")


@app.command(epilog="Example: attnlab runs check REPORT.md")
def check(
    run: Annotated[list[str], CHECKED],
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Check that the files of runs are what they wrote, or that a report says what runs recorded.

    A report is a Markdown file that cites runs by name. Each of its numbers and comparisons is
    supported, contradicted or left open by the cited runs; the exit code is 1 if one is
    contradicted.
    """
    from attnlab.errors import RunError
    from attnlab.runs.lookup import is_run_or_study

    def is_report(name: str) -> bool:
        return name.lower().endswith(".md") and not is_run_or_study(runs / name)

    checked = [
        _check_report(Path(name), runs, as_json=as_json)
        if is_report(name)
        else _check_files(name, runs, as_json=as_json)
        for name in dict.fromkeys(run)
    ]
    if as_json:
        print_json([found for found, _ in checked])
    if wrong := [sentence for _, sentence in checked if sentence]:
        raise RunError(" ".join(wrong))


def _check_files(name: str, runs: Path, *, as_json: bool) -> tuple[dict[str, Any], str]:
    """Check the files of a run or study; return what was found, and what is wrong."""
    from attnlab.runs.check import file_problems
    from attnlab.runs.lookup import find_run

    path = find_run(name, runs)
    problems = file_problems(path)
    if not as_json:
        for line in problems or [f"{path}: every file is as it was written"]:
            typer.echo(line)
    count = "1 file is" if len(problems) == 1 else f"{len(problems)} files are"
    wrong = f"{path}: {count} not as written." if problems else ""
    return {"run": str(path), "problems": problems}, wrong


def _check_report(path: Path, runs: Path, *, as_json: bool) -> tuple[dict[str, Any], str]:
    """Check the claims of a report; return what was found, and what is wrong."""
    from attnlab.evaluation.claims.check import check_report
    from attnlab.report.claims import claims_json, claims_view

    claims = check_report(path, runs)
    if not as_json:
        print_view(claims_view(claims))
    count = sum(claim.verdict == "contradicted" for claim in claims)
    is_plural = "claim is" if count == 1 else "claims are"
    wrong = f"{path}: {count} {is_plural} contradicted by the runs." if count else ""
    return {"report": str(path), "claims": claims_json(claims)}, wrong


@app.command(epilog="Example: attnlab runs rm knowledge-demo-1a2b3c4d")
def rm(
    run: Annotated[list[str], RUN],
    yes: Annotated[bool, YES] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Remove runs and studies; asks first."""
    from attnlab.cluster.submission import Submission
    from attnlab.runs.lookup import find_run
    from attnlab.runs.removal import check_removable, remove

    paths = [find_run(name, runs) for name in dict.fromkeys(run)]
    for path in paths:
        check_removable(path)
        Submission.of(path).check_removable()
    for path in paths:
        if yes or typer.confirm(f"Remove {path} and everything in it?", err=True):
            remove(path)
            Submission.of(path).remove()
            typer.echo(f"removed {path}", err=True)
    say_next("attnlab runs list")


@app.command(epilog="Example: attnlab runs report knowledge-demo-1a2b3c4d")
def report(
    run: Annotated[list[str], RUN],
    out: Annotated[Path | None, OUT] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a self-contained page about runs, or about one study, with every figure as a file."""
    import shlex
    import sys

    from attnlab.runs.files import check_output_folder
    from attnlab.runs.lookup import find_run

    paths = [find_run(name, runs) for name in run]
    if out is not None:
        check_output_folder(out)

    from attnlab.recipes.reporting import report_on

    page = report_on(paths, out, as_markdown=markdown)
    typer.echo(page)
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    say_next(f"{opener} {shlex.quote(str(page))}")
