"""``attnlab attention …``: look at variants, check one's own, measure what they cost, solve."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli import constructions, solve
from attnlab.cli.options import AsJson, complete_attention, group
from attnlab.errors import UserError

app = group(
    "Look at attention variants, check your own, measure what they cost.",
    epilog="Example: attnlab attention list",
)
solve.app.add_typer(constructions.app)
app.add_typer(solve.app, name="solve")

NAME = typer.Argument(
    help="A variant, or your own: path/to/file.py:Name.", autocompletion=complete_attention
)
NAMES = typer.Argument(
    help="Variants, with options if wanted: aft:form=simple. Without any, all.",
    autocompletion=complete_attention,
)
FILE = typer.Argument(help="Your file; path/to/file.py:Name checks that class alone.")


@app.command("list", epilog="Example: attnlab attention list")
def list_(as_json: AsJson = False) -> None:
    """List the attention variants and the position schemes."""
    from attnlab.attention import ATTENTION
    from attnlab.attention.positions import POSITIONS

    kinds = {"attention": ATTENTION.summaries(), "positions": POSITIONS.summaries()}
    if as_json:
        typer.echo(json.dumps(kinds, indent=2, ensure_ascii=False))
        return

    from rich.console import Console

    from attnlab.report.terminal import add_row, table_of

    console = Console()
    for kind, summaries in kinds.items():
        table = table_of(kind, "")
        for name, line in summaries.items():
            add_row(table, name, line)
        console.print(table, "")


@app.command(epilog="Example: attnlab attention show synthesizer")
def show(name: Annotated[str, NAME], as_json: AsJson = False) -> None:
    """Show one variant: what it does, its options, what it supports, promises it breaks."""
    from attnlab.recipes.attention.show import show_attention

    info = show_attention(name)
    if as_json:
        typer.echo(json.dumps(asdict(info), indent=2, ensure_ascii=False))
        return

    from rich.console import Console

    from attnlab.report.attention import portrait_view

    Console().print(portrait_view(asdict(info)))


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
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Check known bugs instead, to see that they are noticed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check your own attention: say for each promise that it is kept, or what the bug does.

    FILE holds functions of the exercise (pairwise_similarities, attn_softmax, …), each compared
    with ours, or classes with forward(x, *, mask, …). The exit code is 1 if something is wrong.
    """
    from attnlab.recipes.attention.check import all_noticed, check_file, check_mutants

    if (file is None) != mutants:
        raise UserError("give a FILE to check, or --mutants.")

    from rich.console import Console

    from attnlab.report.attention import findings_json, findings_view, mutants_view

    if file is None:
        reports = check_mutants()
        if as_json:
            typer.echo(json.dumps({n: findings_json(r) for n, r in reports.items()}, indent=2))
        else:
            Console().print(mutants_view(reports))
        if not all_noticed(reports):
            raise typer.Exit(1)
        return
    path, _, name = file.rpartition(":") if ".py:" in file else (file, "", "")
    report = check_file(Path(path), name=name or None, like=like)
    if as_json:
        typer.echo(json.dumps(findings_json(report), indent=2, ensure_ascii=False))
    else:
        Console().print(findings_view(report))
        if like is None and report.keys() - {"functions"}:
            typer.echo("Its numbers were not compared with a known attention; --like NAME does it.")
    if not all(finding.right for findings in report.values() for finding in findings):
        raise typer.Exit(1)


@app.command(epilog="Example: attnlab attention cost dot_product linear aft:form=simple")
def cost(
    names: Annotated[list[str] | None, NAMES] = None,
    lengths: Annotated[str, typer.Option(help="Lengths of a row.")] = "64,128,256,512,1024,2048",
    d_model: Annotated[int, typer.Option(min=1, help="Width.")] = 256,
    n_heads: Annotated[int, typer.Option(min=1, help="Heads.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; the median counts.")] = 5,
    out: Annotated[Path, typer.Option(help="Where to draw it: .png or .svg.")] = Path("cost.png"),
    as_json: AsJson = False,
) -> None:
    """Measure seconds and memory of a layer, forward and back, against the length of a row.

    All variants take turns. One that would need more than 4 GB or 10 seconds stops there.
    """
    from attnlab.attention import ATTENTION
    from attnlab.report.write import check_figure_path, save_figure

    numbers = _lengths(lengths)
    check_figure_path(out)

    from rich.console import Console
    from rich.progress import Progress

    from attnlab.recipes.attention.cost import measure_attention
    from attnlab.report.attention import costs_figure, costs_view

    stderr = Console(stderr=True)
    with Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(numbers) * rounds)
        costs = measure_attention(
            names or ATTENTION.names(),
            numbers,
            d_model=d_model,
            n_heads=n_heads,
            rounds=rounds,
            on_round=lambda: progress.advance(task),
        )
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in costs], indent=2))
    else:
        Console().print(costs_view(costs), f"\n{out}", soft_wrap=False, highlight=False)
    save_figure(costs_figure(costs), out)


def _lengths(text: str) -> list[int]:
    """Read numbers between commas."""
    try:
        numbers = sorted({int(number) for number in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 2:
        raise UserError(
            f"--lengths {text!r}: give whole numbers from 2 on with commas between, as 64,128,256."
        )
    return numbers
