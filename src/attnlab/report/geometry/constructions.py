"""The assignments' constructions on a terminal: noisy keys, K Q V, subspaces, sharpness, argmax."""

import math

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.geometry.argmax import HardAndSoft
from attnlab.geometry.kqv import Checked, KqvExplained, Rate
from attnlab.geometry.noise import NoisyHeads, ignored_probability
from attnlab.geometry.sharpness import Sharpness
from attnlab.geometry.subspaces import Extracted, Extraction
from attnlab.report.geometry.words import combination, listed, number, vector
from attnlab.report.terminal import add_row, table_of

WORDS = ("u_a", "u_b", "u_c", "u_d")
NO_GRADIENT = ("query.weight", "query.bias", "key.weight", "key.bias")
LEARNS = ("value.weight", "value.bias", "proj.weight", "proj.bias")
"""The parameters of attnlab.attention.variants.hard; a test keeps the two lists true."""


def heads_view(drawn: NoisyHeads) -> RenderableType:
    """Show how much the weight on v_a varies with one head and with two."""
    draws, n_tokens = drawn.one_head.shape
    table = table_of("heads", "mean", "deviation", "without ignored", "5 %", "median", "95 %")
    for heads in (1, 2):
        numbers = (
            float(drawn.weight_on_a(heads).mean()),
            drawn.deviation(heads),
            drawn.deviation(heads, without_ignored=True),
            *drawn.quantiles(heads),
        )
        add_row(table, str(heads), *(f"{x:.3f}" for x in numbers))
    setting = f"{draws:,} draws of {n_tokens} keys, β = {drawn.beta:g}, α = {drawn.alpha:g}"
    ignored = (
        f"k_a points away from μ_a in {drawn.ignored.mean():.1%} of the draws"
        f" ({ignored_probability():.1%} expected); the assignment leaves them out."
    )
    return Group(
        Text("The weight on v_a, where ½ is wanted", "bold"), Text(setting), "", table, "",
        Text("One head, q = β(μ_a + μ_b): a k_a longer than its mean takes all, a shorter one"
             " nothing, so the output jumps between v_a and v_b."),
        Text("Two heads, β μ_a and β μ_b: the first finds k_a unless it is very short, the second"
             " finds k_b, so the mean of both stays near ½(v_a + v_b)."),
        Text(ignored),
    )  # fmt: skip


def kqv_view(explained: KqvExplained) -> RenderableType:
    """Show what self-attention does without matrices and with them."""
    checked = explained.checked
    alone = table_of("added to x₂", "c₂ nearly", "off by", "off u_b by")
    for one in explained.without:
        token = combination(one.token / checked.beta, WORDS)
        add_row(alone, one.added, token, number(one.to_itself, 2), number(one.to_u_b, 2))
    whose = "The construction" if explained.is_construction else "Your matrices"
    parts: list[RenderableType] = [
        Text(f"x₁ = u_d + u_b, x₂ = u_a, x₃ = u_c + u_b, words of length β = {checked.beta:g}"), "",
        Text("Without matrices, k = q = v = x", "bold"), alone,
        Text("Every token scores highest with itself, and u_b lies outside the hull of the tokens:"
             " no mean of them is near it."), "",
        Text.assemble((whose, "bold"), ": ", _passes(checked)),
        *_matrices(explained), "", _contexts(checked), "", *_rate(checked.rate),
    ]  # fmt: skip
    return Group(*parts)


def subspaces_view(found: Extracted) -> RenderableType:
    """Show the matrices that take v_a out of a sum and out of a mean."""
    verdict = ("possible", "green") if found.of_sum.shared is None else ("impossible", "red")
    title = Text.assemble(("v_a back out of v_a + v_b", "bold"), ": ", verdict)
    if found.of_sum.shared is not None:
        shared = vector(found.of_sum.shared)
        return Group(title, Text(
            f"Both subspaces hold x = {shared}. With v_a = x, v_b = -x the sum is 0, and so it is"
            " with v_a = v_b = 0: no matrix can tell the two apart."
        ))  # fmt: skip
    how = (
        "Both bases together are orthonormal, so M = A Aᵀ: it keeps what lies in A and drops B."
        if found.is_projection
        else "The bases are not orthonormal together, so A Aᵀ will not do; this M projects along B."
    )
    mean = "2 A Aᵀ" if found.is_projection else "twice that"
    return Group(
        title, Text(how), "",
        Text("M for the sum v_a + v_b", "bold"), _matrix(found.of_sum), "",
        Text(f"M for the mean ½(v_a + v_b): {mean}", "bold"), _matrix(found.of_mean),
    )  # fmt: skip


def sharpness_view(found: Sharpness) -> RenderableType:
    """Show the smallest β for a mass."""
    n, m = found.n_tokens, found.wanted
    table = table_of()
    add_row(table, "smallest β", f"{number(found.beta, 6)} = ln(mass·(n-m) / ((1-mass)·m))")
    add_row(table, "with 1/√h", f"q = β√h·(their sum) = {number(found.query_scale, 6)}·(their sum)")
    add_row(table, "without", f"q = β·(their sum) = {number(found.beta, 6)}·(their sum)")
    add_row(table, "plain sum", f"with 1/√h, their sum itself gives each {found.plain_weight:.3f};"
            f" {found.even_weight:.3f} is what every key gets from q = 0")  # fmt: skip
    title = f"{found.mass:g} of the weight on {m} of {n} orthonormal keys of width {found.width}"
    return Group(Text(title, "bold"), "", table)


def argmax_view(found: HardAndSoft) -> RenderableType:
    """Show what argmax attention returns, and what still learns."""
    hard, weights = found.hard, table_of("token", "score", "argmax", "softmax")
    for i, (score, soft) in enumerate(zip(hard.scores, found.soft_weights, strict=True)):
        share = f"{1 / len(hard.winners):.3g}" if i in hard.winners else "0"
        add_row(weights, str(i), number(float(score)), share, number(float(soft)))
    winner = f"token {hard.winners[0]}" if not hard.is_tie else f"a tie of {listed(hard.winners)}"
    table = table_of()
    add_row(table, "query", vector(found.query))
    add_row(table, "output", vector(hard.output))
    add_row(table, "softmax", vector(found.soft_output))
    return Group(
        Text(f"Argmax attention: {winner}", "bold"), "", weights, "", table, "",
        Text(_radius_words(found)),
        Text("In hard attention (attnlab attention show hard) therefore no gradient reaches"
             f" {', '.join(NO_GRADIENT)}; {', '.join(LEARNS)} still learn. straight_through=true"
             " chooses as hard and learns as softmax does."),
    )  # fmt: skip


def _radius_words(found: HardAndSoft) -> str:
    hard = found.hard
    if hard.radius == 0:
        return "A tie is a matter of convention; the mean is what an ever sharper softmax tends to."
    if math.isinf(hard.radius):
        return "No query changes the choice, so queries and keys get no gradient."
    return (
        f"The query may move by {number(hard.radius)} in any direction without changing the output:"
        " its slope with respect to queries and keys is 0."
    )


def _passes(checked: Checked) -> Text:
    worst = f": largest error {number(max(checked.errors.values()), 2)}"
    verdict = ("right", "green") if checked.passes else ("wrong", "red")
    return Text.assemble(verdict, f"{worst}, allowed {number(checked.tolerance)}")


def _matrices(explained: KqvExplained) -> list[RenderableType]:
    if explained.is_construction:
        return [Text("V = (u_b u_bᵀ - u_c u_cᵀ)/β², K = I, Q = (u_d u_aᵀ + u_c u_dᵀ)/β²")]
    table = table_of("", *WORDS)
    made = explained.checked.matrices
    for name, matrix in (("K", made.key), ("Q", made.query), ("V", made.value)):
        for i, row in enumerate(matrix):
            add_row(table, f"{name} {WORDS[i]}", *(number(float(x)) for x in row))
    return [table]


def _contexts(checked: Checked) -> RenderableType:
    table = table_of("", "looks at x₁, x₂, x₃", "context", "wanted", "error")
    for token in sorted(checked.wanted):
        add_row(
            table,
            f"c{'₁₂₃'[token]}",
            vector(checked.contexts.weights[token], 3),
            combination(np.round(checked.contexts.outputs[token] / checked.beta, 4), WORDS),
            combination(checked.wanted[token] / checked.beta, WORDS),
            number(checked.errors[token], 2),
        )
    return table


def _rate(rate: Rate) -> list[RenderableType]:
    table = table_of("β", *(f"{beta:g}" for beta in rate.betas))
    add_row(table, "error", *(number(float(row.max()), 2) for row in rate.errors))
    falls = f"The error falls like β·exp(-{rate.rate:.2f} β²)."
    return [table, Text(falls if rate.rate > 0.01 else "The error does not fall as words grow.")]


def _matrix(found: Extraction) -> RenderableType:
    assert found.matrix is not None
    table = table_of()
    for row in found.matrix:
        add_row(table, *(number(0.0 if abs(x) < 1e-12 else float(x)) for x in row))
    return Group(table, Text(f"largest error for vectors of unit length: {number(found.error, 2)}"))
