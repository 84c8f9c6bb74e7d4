"""What the questions of ``attnlab attention solve`` share: options, and showing the result."""

import inspect
import json
import shlex
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from attnlab.cli.options import AsJson
from attnlab.cli.show import say_next

if TYPE_CHECKING:
    from attnlab.geometry.explanation import Explanation

Explains = Callable[..., "Explanation"]
Command = TypeVar("Command", bound=Callable[..., Any])


def complete_example(incomplete: str) -> list[str]:
    """Offer the names of the examples to the shell."""
    from attnlab.geometry.examples import EXAMPLES

    return [name for name in EXAMPLES if name.startswith(incomplete)]


def check_figure(path: Path | None) -> Path | None:
    """Refuse a figure that cannot be written before anything is worked out."""
    if path is not None:
        from attnlab.report.write import check_figure_path

        check_figure_path(path)
    return path


Example = Annotated[
    str | None,
    typer.Option(
        help="Keys and values by name: cse517, argmax, orthonormal, unequal, interior, midpoint.",
        metavar="NAME",
        autocompletion=complete_example,
    ),
]
KeysFile = Annotated[
    Path | None, typer.Option("--keys", help="Your keys, one row per token: .csv, .json, .npy.")
]
ValuesFile = Annotated[
    Path | None, typer.Option("--values", help="Your values; without them the weights are shown.")
]
Error = Annotated[float, typer.Option(help="Largest error allowed for the query that is found.")]
Tolerance = Annotated[float, typer.Option(help="Largest error with which an answer is right.")]
Answer = Annotated[
    str | None,
    typer.Option(
        help="Your answer, to be checked: k0 …, v0 …, K, V, a large S, + - * /, mean, sum, norm,"
        " dot and numbers. If it is wrong, the exit code is 1.",
        metavar='"10*(k0+k1)"',
    ),
]
Solution = Annotated[
    bool, typer.Option("--solution", help="Show the solution too; without --answer, it is shown.")
]
FigurePath = Annotated[
    Path | None,
    typer.Option("--figure", help="Draw it: .png or .svg.", metavar="PATH", callback=check_figure),
]


def explains(function: Explains, *, without: Collection[str] = ()) -> Callable[..., None]:
    """Make a command of a function: it gets --figure and --json, and shows what is explained."""

    def command(*, figure: FigurePath = None, as_json: AsJson = False, **own: Any) -> None:
        show(function(**own), figure, as_json=as_json)

    return _with_options_of(function, command, without)


def asks(function: Explains, *, without: Collection[str] = ()) -> Explains:
    """Give a function its two positional arguments: keys and values, and what is required."""

    def command(
        *,
        example: Example = None,
        keys: KeysFile = None,
        values: ValuesFile = None,
        error: Error = 1e-6,
        answer: Answer = None,
        solution: Solution = False,
        tolerance: Tolerance = 0.05,
        **own: Any,
    ) -> "Explanation":
        from attnlab.recipes.attention import solve

        request = solve.make_request(answer, error=error, tolerance=tolerance, solution=solution)
        return function(solve.load(example, keys, values), request, **own)

    return _with_options_of(function, command, without)


def _with_options_of(function: Explains, command: Command, without: Collection[str]) -> Command:
    """Let a command show the options of the function that it calls, then its own."""
    no_options = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_KEYWORD)
    options = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for one in (function, command)
        for name, parameter in inspect.signature(one).parameters.items()
        if parameter.kind not in no_options and name not in without
    ]
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    return command


def show(explained: "Explanation", figure: Path | None, *, as_json: bool) -> None:
    """Print an explanation and draw it; a wrong answer of the user's ends with exit code 1."""
    if figure is not None:
        from attnlab.report.geometry.figures import draw
        from attnlab.report.write import save_figure

        save_figure(draw(explained), figure)
    if as_json:
        from attnlab.report.geometry.plain_data import explanation_data

        data = explanation_data(explained)
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        from attnlab.console import Console
        from attnlab.report.geometry.terminal import view

        Console().print(view(explained), *([f"\n{figure}"] if figure else []), highlight=False)
        if figure is None:
            more = ["--solution"] if explained.hides_solution else ["--figure", "picture.png"]
            say_next(shlex.join(["attnlab", *sys.argv[1:], *more]))
    if explained.is_wrong:
        raise typer.Exit(1)
