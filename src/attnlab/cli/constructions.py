"""``attnlab attention solve heads``, ``kqv``, ``subspaces``, ``sharpness``, ``argmax``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnlab.cli.explained import Example, KeysFile, Tolerance, ValuesFile, explains

if TYPE_CHECKING:
    from attnlab.geometry.explanation import Explanation

app = typer.Typer(rich_markup_mode=None)

MatrixFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="4 × 4; without it, the built-in one.")
]


@app.command(epilog="Example: attnlab attention solve heads --alpha 0.01 --figure heads.png")
@explains
def heads(
    tokens: Annotated[int, typer.Option(help="Number of keys.")] = 20,
    beta: Annotated[float, typer.Option(help="Scale of the queries.")] = 10.0,
    alpha: Annotated[float, typer.Option(help="Variance of every key in every direction.")] = 1e-6,
    length_variance: Annotated[
        float, typer.Option(help="Further variance of k_a along its mean; 0: all keys alike.")
    ] = 0.5,
    draws: Annotated[int, typer.Option(help="How often the keys are drawn.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
) -> "Explanation":
    """Compare one head with two on noisy keys.

    Keys that are all equally noisy, then one that also varies in length: one head then fails to
    average two values, two heads do not. The figure shows that key and the weight on its value.
    """
    from attnlab.recipes.attention import solve

    return solve.heads(
        n_tokens=tokens, beta=beta, alpha=alpha, length_variance=length_variance,
        draws=draws, seed=seed,
    )  # fmt: skip


@app.command(epilog="Example: attnlab attention solve kqv --beta 3 --query-matrix q.csv")
@explains
def kqv(
    beta: Annotated[float, typer.Option(help="Length of the words.")] = 3.0,
    key_matrix: MatrixFile = None,
    query_matrix: MatrixFile = None,
    value_matrix: MatrixFile = None,
    tolerance: Tolerance = 0.05,
) -> "Explanation":
    """Self-attention without and with matrices K, Q, V.

    On the sentence u_d + u_b, u_a, u_c + u_b. Wanted are c₂ ≈ u_b and c₁ ≈ u_b − u_c. Files give
    your own matrices for k = K x, with rows and columns in the order u_a, u_b, u_c, u_d; if they
    miss, the exit code is 1.
    """
    from attnlab.recipes.attention import solve

    files = (key_matrix, query_matrix, value_matrix)
    return solve.kqv(beta, files, tolerance=tolerance)


@app.command(epilog="Example: attnlab attention solve subspaces --first a.csv --second b.csv")
@partial(explains, without=["figure"])
def subspaces(
    first: Annotated[Path | None, typer.Option(help="Basis of A, one vector per row.")] = None,
    second: Annotated[Path | None, typer.Option(help="Basis of B, one vector per row.")] = None,
    matrix: Annotated[Path | None, typer.Option(help="Your M for the sum, to be checked.")] = None,
    tolerance: Tolerance = 0.05,
) -> "Explanation":
    """Take one vector back out of a sum: M = A Aᵀ.

    v_a lies in subspace A, v_b in B; for their mean it is 2 A Aᵀ. Other subspaces
    may be given. If your M misses, the exit code is 1.
    """
    from attnlab.recipes.attention import solve

    return solve.subspaces(first, second, proposed=matrix, tolerance=tolerance)


@app.command(epilog="Example: attnlab attention solve sharpness --mass 0.99 --tokens 10")
@explains
def sharpness(
    mass: Annotated[float, typer.Option(help="Weight of the wanted keys together.")] = 0.99,
    tokens: Annotated[int, typer.Option(help="Number of keys.")] = 10,
    wanted: Annotated[int, typer.Option(help="How many of them are wanted.")] = 2,
    width: Annotated[int, typer.Option(help="Width h of a key, for 1/√h.")] = 64,
) -> "Explanation":
    """Find the smallest scale β for a wanted mass.

    For orthonormal keys and q = β√h(k_a + k_b), with the 1/√h of scaled attention.
    """
    from attnlab.geometry.explain.sharpness import explain_sharpness

    return explain_sharpness(mass, n_tokens=tokens, wanted=wanted, width=width)


@app.command(epilog="Example: attnlab attention solve argmax --query -2,1,1")
@explains
def argmax(
    query: Annotated[
        str | None, typer.Option(help="Numbers, or an expression such as k0+k1.")
    ] = None,
    example: Example = None,
    keys: KeysFile = None,
    values: ValuesFile = None,
) -> "Explanation":
    """Return the value of the most similar key.

    Says which parameters of such a layer still learn. Without options it uses the assignment's
    keys, values and query.
    """
    from attnlab.recipes.attention import solve

    instance = solve.load(example, keys, values, default="argmax")
    is_default = keys is None and example in (None, "argmax")
    return solve.argmax(instance, query, is_default=is_default)
