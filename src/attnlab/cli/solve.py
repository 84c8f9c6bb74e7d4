"""``attnlab attention solve …``: what a query can do, with proof; answers checked."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from attnlab.cli.options import AsJson, group, numbers

app = group("Hand-made attention: what a query can do, with proof. Checks your answers.")


def complete_example(incomplete: str) -> list[str]:
    """Offer the names of the examples to the shell."""
    from attnlab.geometry.examples import EXAMPLES

    return [name for name in EXAMPLES if name.startswith(incomplete)]


Example = Annotated[
    str | None,
    typer.Option(
        help="Keys and values by name: cse517, argmax, orthonormal, unequal, interior, midpoint.",
        metavar="NAME",
        autocompletion=complete_example,
    ),
]
KeysFile = Annotated[
    Path | None, typer.Option("--keys", help="Your keys, a row a token: .csv, .json, .npy.")
]
ValuesFile = Annotated[
    Path | None, typer.Option("--values", help="Your values; without them the weights are shown.")
]
Error = Annotated[float, typer.Option(help="Largest error allowed of the query that is found.")]
Tolerance = Annotated[float, typer.Option(help="Largest error with which an answer is right.")]
Answer = Annotated[
    str | None,
    typer.Option(
        help="Your own, to be checked; of k0 …, v0 …, K, V, a large S, + - * /, mean, sum, norm,"
        " dot and numbers. If it is wrong the exit code is 1.",
        metavar='"10*(k0+k1)"',
    ),
]


def check_figure(path: Path | None) -> Path | None:
    """Refuse a figure that cannot be written before anything is worked out."""
    if path is not None:
        from attnlab.report.write import check_figure_path

        check_figure_path(path)
    return path


FigurePath = Annotated[
    Path | None,
    typer.Option("--figure", help="Draw it: .png or .svg.", metavar="PATH", callback=check_figure),
]
TokenOption = Annotated[int, typer.Option("--token", help="The token, counted from 0.")]
Subset = Annotated[str, typer.Option(help="Tokens, separated by commas.", metavar="0,1")]


@app.command(epilog="Example: attnlab attention solve select --example interior --token 3")
def select(
    token: TokenOption = 0,
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
    error: Error = 1e-6,
    answer: Answer = None,
    tolerance: Tolerance = 0.05,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Put all weight on one token."""
    from attnlab.recipes.attention import solve

    asked = solve.ask(answer, error=error, tolerance=tolerance)
    instance = solve.load(example, keys, values, default="cse517")
    show(solve.select(instance, token, request=asked), figure, as_json=as_json)


@app.command(epilog="Example: attnlab attention solve average --subset 0,1")
def average(
    subset: Subset = "0,1",
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
    error: Error = 1e-6,
    answer: Answer = None,
    tolerance: Tolerance = 0.05,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Put the same weight on some tokens and none on the others.

    For orthonormal keys, sharpness tells the smallest scale for a wanted mass.
    """
    from attnlab.recipes.attention import solve

    asked, chosen = (
        solve.ask(answer, error=error, tolerance=tolerance),
        numbers(subset, "--subset", int),
    )
    instance = solve.load(example, keys, values, default="cse517")
    show(solve.average(instance, chosen, request=asked), figure, as_json=as_json)


@app.command(epilog="Example: attnlab attention solve weights --weights 0.1,0.2,0.3,0.4")
def weights(
    wanted: Annotated[
        str, typer.Option("--weights", help="One number a token; their sum is 1.", metavar="P,P,…")
    ],
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
    error: Error = 1e-6,
    answer: Answer = None,
    tolerance: Tolerance = 0.05,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Share out the weight as you like."""
    from attnlab.recipes.attention import solve

    asked, shares = (
        solve.ask(answer, error=error, tolerance=tolerance),
        numbers(wanted, "--weights", float),
    )
    instance = solve.load(example, keys, values, default="cse517")
    show(solve.weights(instance, shares, request=asked), figure, as_json=as_json)


@app.command(epilog='Example: attnlab attention solve output --example midpoint --target "v2"')
def output(
    target: Annotated[
        str,
        typer.Option(
            "--target", "--output", help="The output: numbers, or an expression as (v0+v1)/2."
        ),
    ],
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
    error: Error = 1e-6,
    answer: Answer = None,
    tolerance: Tolerance = 0.05,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Ask for an output, whatever the weights.

    It may be in reach although the weights one thinks of are not.
    """
    from attnlab.recipes.attention import solve

    asked = solve.ask(answer, error=error, tolerance=tolerance)
    instance = solve.load(example, keys, values, default="cse517")
    show(solve.output(instance, target, request=asked), figure, as_json=as_json)


@app.command(epilog='Example: attnlab attention solve identity --answer "S*K"')
def identity(
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
    error: Error = 1e-6,
    answer: Answer = None,
    tolerance: Tolerance = 0.05,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Let every token select itself: a matrix of queries."""
    from attnlab.recipes.attention import solve

    asked = solve.ask(answer, error=error, tolerance=tolerance)
    instance = solve.load(example, keys, values, default="cse517")
    show(solve.identity(instance, request=asked), figure, as_json=as_json)


@app.command("repair-key", epilog="Example: attnlab attention solve repair-key --subset 2 --unit")
def repair_key(
    token: TokenOption = 2,
    subset: Subset = "0,1,2",
    query: Annotated[str, typer.Option(help="It stays; an expression in the old keys.")] = (
        "10*(k0+k1)"
    ),
    unit: Annotated[bool, typer.Option("--unit", help="The new key must have length 1.")] = False,
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
    answer: Answer = None,
    tolerance: Tolerance = 0.05,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Change one key, not the query.

    The key moves as little as possible until the query averages the subset. In an answer, q is
    the query: --answer "q/norm(q)".
    """
    from attnlab.recipes.attention import solve

    asked, chosen = solve.ask(answer, tolerance=tolerance), numbers(subset, "--subset", int)
    instance = solve.load(example, keys, values, default="cse517")
    explained = solve.repair(instance, token, query=query, subset=chosen, unit=unit, request=asked)
    show(explained, figure, as_json=as_json)


def show(explained: Any, figure: Path | None, *, as_json: bool) -> None:
    """Print an explanation and draw it; a wrong answer of the user's ends with exit code 1."""
    if figure is not None:
        from attnlab.report.geometry.figures import draw
        from attnlab.report.write import save_figure

        save_figure(draw(explained), figure)
    if as_json:
        from attnlab.report.geometry.data import as_data

        data = as_data(explained)
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        from rich.console import Console

        from attnlab.report.geometry.views import view

        Console().print(view(explained), *([f"\n{figure}"] if figure else []), highlight=False)
    if getattr(getattr(explained, "answer", None), "is_wrong", False):
        raise typer.Exit(1)
