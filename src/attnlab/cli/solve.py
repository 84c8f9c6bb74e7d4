"""``attnlab attention solve …``: what a query can do, with proof; answers checked."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnlab.cli.explained import asks, explains
from attnlab.cli.options import group, numbers

if TYPE_CHECKING:
    from attnlab.geometry.explanation import Explanation

app = group("Hand-made attention: what a query can do, with proof. Checks your answers.")

Token = Annotated[int, typer.Option("--token", help="The token, counted from 0.")]
Subset = Annotated[str, typer.Option(help="Tokens, separated by commas.", metavar="0,1")]


@app.command(epilog="Example: attnlab attention solve select --example interior --token 3")
@explains
@asks
def select(instance: Any, request: Any, /, token: Token = 0) -> "Explanation":
    """Put all weight on one token."""
    from attnlab.geometry.explain.weights import explain_weights
    from attnlab.geometry.targets import select

    return explain_weights(instance, select(instance.n_tokens, token), request=request)


@app.command(epilog="Example: attnlab attention solve average --subset 0,1")
@explains
@asks
def average(instance: Any, request: Any, /, subset: Subset = "0,1") -> "Explanation":
    """Put the same weight on some tokens and none on the others.

    For orthonormal keys, sharpness gives the smallest scale for a wanted mass.
    """
    from attnlab.geometry.explain.weights import explain_weights
    from attnlab.geometry.targets import average

    target = average(instance.n_tokens, numbers(subset, "--subset", int))
    return explain_weights(instance, target, request=request)


@app.command(epilog="Example: attnlab attention solve weights --weights 0.1,0.2,0.3,0.4")
@explains
@asks
def weights(
    instance: Any,
    request: Any,
    /,
    wanted: Annotated[
        str,
        typer.Option("--weights", help="One number per token; their sum is 1.", metavar="P,P,…"),
    ],
) -> "Explanation":
    """Distribute the weight as you like."""
    from attnlab.geometry.explain.weights import explain_weights
    from attnlab.geometry.targets import distribution

    target = distribution(instance.n_tokens, numbers(wanted, "--weights", float))
    return explain_weights(instance, target, request=request)


@app.command(epilog='Example: attnlab attention solve output --example midpoint --target "v2"')
@explains
@asks
def output(
    instance: Any,
    request: Any,
    /,
    target: Annotated[
        str,
        typer.Option(
            "--target", "--output", help="The output: numbers, or an expression such as (v0+v1)/2."
        ),
    ],
) -> "Explanation":
    """Ask for an output, whatever the weights.

    It may be reachable even if the weights that come to mind are not.
    """
    from attnlab.geometry.explain.output import explain_output

    return explain_output(instance, target, request=request)


@app.command(epilog='Example: attnlab attention solve identity --answer "S*K"')
@explains
@asks
def identity(instance: Any, request: Any, /) -> "Explanation":
    """Let every token select itself: a matrix of queries."""
    from attnlab.geometry.explain.weights import explain_identity

    return explain_identity(instance, request=request)


@app.command("repair-key", epilog="Example: attnlab attention solve repair-key --subset 2 --unit")
@explains
@partial(asks, without=["error"])
def repair_key(
    instance: Any,
    request: Any,
    /,
    token: Token = 2,
    subset: Subset = "0,1,2",
    query: Annotated[
        str, typer.Option(help="The query, which stays the same; an expression in the old keys.")
    ] = ("10*(k0+k1)"),
    unit: Annotated[bool, typer.Option("--unit", help="The new key must have length 1.")] = False,
) -> "Explanation":
    """Change one key, not the query.

    Finds the key with which the query comes nearest to averaging the subset. In an answer, q is the
    query: --answer "q/norm(q)".
    """
    from attnlab.geometry.explain.repair import explain_repair
    from attnlab.geometry.targets import average

    target = average(instance.n_tokens, numbers(subset, "--subset", int))
    return explain_repair(
        instance, token, query_text=query, target=target, unit=unit, request=request
    )
