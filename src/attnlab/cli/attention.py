"""``attnlab attention …``: look at variants, check your own, measure cost, ablate, solve."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli import constructions, solve
from attnlab.cli.ablate import ABLATE_FLAGS, ABOUT, ablate_settings, report
from attnlab.cli.flags import STUDY_OPTIONS, job_command
from attnlab.cli.options import AsJson, complete_attention, group, numbers
from attnlab.cli.show import print_json, print_view, say_next
from attnlab.errors import UserError

app = group(
    "Look at attention variants, check your own, measure their cost, compare what they learn.",
    epilog="Example: attnlab attention list",
)
solve.app.add_typer(constructions.app)
app.add_typer(solve.app, name="solve")

NAME = typer.Argument(
    help="A variant, or your own: path/to/file.py:Name.", autocompletion=complete_attention
)
NAMES = typer.Argument(
    help="Variants, optionally with options: aft:form=simple. Without any, all.",
    autocompletion=complete_attention,
)
FILE = typer.Argument(help="Your .py or .ipynb; path/to/file.py:Name checks only that class.")


@app.command("list", epilog="Example: attnlab attention list")
def list_(as_json: AsJson = False) -> None:
    """List the attention variants and the position schemes."""
    from attnlab.attention import ATTENTION
    from attnlab.attention.positions import POSITIONS

    kinds = {"attention": ATTENTION.summaries(), "positions": POSITIONS.summaries()}
    if as_json:
        print_json(kinds)
        return

    from attnlab.report.terminal import add_row, table_of

    for kind, summaries in kinds.items():
        table = table_of(kind, "")
        for name, line in summaries.items():
            add_row(table, name, line)
        print_view(table)
        typer.echo()
    say_next("attnlab attention show dot_product")


@app.command(epilog="Example: attnlab attention show synthesizer")
def show(name: Annotated[str, NAME], as_json: AsJson = False) -> None:
    """Show one variant: what it does, its options, what it supports, promises it breaks."""
    from attnlab.recipes.attention.show import show_attention

    info = show_attention(name)
    if as_json:
        print_json(info)
        return

    from attnlab.report.variant import variant_view

    print_view(variant_view(info))
    say_next(f"attnlab attention cost {shlex.quote(name)}")


@app.command(epilog="Example: attnlab attention check my_attention.py")
def check(
    file: Annotated[str | None, FILE] = None,
    like: Annotated[
        str | None,
        typer.Option(
            help="The variant that your classes should equal, given the same weights.",
            autocompletion=complete_attention,
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            help="The functions and classes to check, with commas; else all.", metavar="NAMES"
        ),
    ] = "",
    time_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds after which your code is stopped.")
    ] = 60.0,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Check known bugs instead, to see that they are caught."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check your own attention: for each promise, whether it is kept or what the bug does.

    FILE holds functions of the exercise (pairwise_similarities, attn_softmax, …), each compared
    with ours, or classes with forward(x, *, mask, …) or a plain forward(x). In a notebook, only
    what these need is run. The exit code is 1 if something is wrong, missing or not written yet.
    """
    if (file is None) != mutants:
        raise UserError("give a FILE to check, or --mutants.")

    from attnlab.report.findings import findings_json, findings_view, mutants_view

    if file is None:
        from attnlab.recipes.attention.check import all_noticed, check_mutants

        reports = check_mutants()
        if as_json:
            print_json({n: findings_json(r) for n, r in reports.items()})
        else:
            print_view(mutants_view(reports))
        if not all_noticed(reports):
            raise typer.Exit(1)
        return
    from attnlab.recipes.attention.check_process import check_file_apart

    has_name = ".py:" in file or ".ipynb:" in file
    path, _, name = file.rpartition(":") if has_name else (file, "", "")
    names = [word.strip() for word in (name or only).split(",") if word.strip()]
    report = check_file_apart(Path(path), only=names, like=like, seconds=time_limit)
    if as_json:
        print_json(findings_json(report))
    else:
        print_view(findings_view(report))
        if like is None and report.keys() - {"functions"}:
            typer.echo("Its numbers were not compared with a known variant; --like NAME does that.")
    if not all(finding.right for findings in report.values() for finding in findings):
        raise typer.Exit(1)
    if not as_json and name:
        say_next(f"attnlab attention cost dot_product {shlex.quote(file)}")


@app.command(epilog="Example: attnlab attention cost dot_product linear aft:form=simple")
def cost(
    names: Annotated[list[str] | None, NAMES] = None,
    lengths: Annotated[
        str, typer.Option(help="Sequence lengths, separated by commas.")
    ] = "64,128,256,512,1024,2048",
    d_model: Annotated[int, typer.Option(min=1, help="Width of the layer.")] = 256,
    n_heads: Annotated[int, typer.Option(min=1, help="Number of heads.")] = 8,
    rounds: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of rounds; the median is reported.")
    ] = 5,
    out: Annotated[Path, typer.Option(help="File of the figure, .png or .svg.")] = Path("cost.png"),
    as_json: AsJson = False,
) -> None:
    """Measure time and memory of a layer, forward and backward, by sequence length.

    The variants take turns. One that would need more than 4 GB or 10 seconds stops there.
    """
    from attnlab.attention import ATTENTION
    from attnlab.report.write import check_figure_path, save_figure

    row_lengths = sorted(set(numbers(lengths, "--lengths", int)))
    if not row_lengths or row_lengths[0] < 2:
        raise UserError(f"--lengths {lengths!r}: a row has at least 2 tokens; give 64,128,256.")
    check_figure_path(out)

    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    from attnlab.console import Console, text_column
    from attnlab.recipes.attention.cost import measure_attention
    from attnlab.report.attention import costs_figure, costs_view

    stderr = Console(stderr=True)
    with Progress(
        text_column("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal,
    ) as progress:
        task = progress.add_task("measuring", total=len(row_lengths) * rounds)
        costs = measure_attention(
            names or ATTENTION.names(),
            row_lengths,
            d_model=d_model,
            n_heads=n_heads,
            rounds=rounds,
            on_round=lambda: progress.advance(task),
        )
    if as_json:
        print_json([asdict(one) for one in costs])
    else:
        print_view(costs_view(costs))
        typer.echo(f"\n{out}")
    save_figure(costs_figure(costs), out)
    if not as_json:
        say_next(f"attnlab attention show {shlex.quote(costs[0].name.partition(':')[0])}")


job_command(
    app,
    "attention-ablate",
    ABLATE_FLAGS,
    about=ABOUT,
    options=STUDY_OPTIONS,
    prepare=ablate_settings,
)
app.command(epilog="Example: attnlab attention report runs/ledger --topic sharing")(report)
