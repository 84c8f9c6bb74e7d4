"""What does self-attention do without key, query and value matrices, and with them?"""

import numpy as np

from attnlab.errors import UserError
from attnlab.geometry.examples import word_tokens
from attnlab.geometry.explanation import Explanation, Part, Table
from attnlab.geometry.kqv import (
    LONGEST_WORD,
    Alone,
    Contexts,
    Matrices,
    Rate,
    construction,
    context_errors,
    rate_in_beta,
    self_attention,
    wanted_contexts,
    without_matrices,
)
from attnlab.geometry.panels import Curves, Heat
from attnlab.geometry.words import combination, number, vector

WORDS = ("u_a", "u_b", "u_c", "u_d")


def explain_kqv(
    beta: float, matrices: Matrices | None = None, *, tolerance: float = 0.05
) -> Explanation:
    """Try the assignment's sentence without matrices, then with the user's or the construction."""
    if not 0 < beta <= LONGEST_WORD:
        raise UserError(f"beta = {beta:g} is not possible: above 0, up to {LONGEST_WORD:g}.")
    answer = _with(matrices or construction(), beta, tolerance=tolerance, own=bool(matrices))
    contexts, rate = answer.data["contexts"], answer.data["rate"]
    lines = {
        f"$c_{token + 1}$": (np.square(rate.betas), errors)
        for token, errors in zip(answer.data["errors"], rate.errors.T, strict=True)
    }
    return Explanation(
        f"x₁ = u_d + u_b, x₂ = u_a, x₃ = u_c + u_b, words of length β = {beta:g}",
        parts=[_without(without_matrices(beta), beta)],
        data={"beta": beta},
        panels=[
            Heat(f"β = {beta:g}", contexts.weights, ["$x_1$", "$x_2$", "$x_3$"]),
            Curves("β², β the length of the words", "largest error of the context", lines, "y"),
        ],
        answer=answer,
    )


def _without(found: tuple[Alone, ...], beta: float) -> Explanation:
    """Show that the second token finds itself."""
    rows = [
        (
            one.added,
            combination(one.token / beta, WORDS),
            number(one.to_itself, 2),
            number(one.to_u_b, 2),
        )
        for one in found
    ]
    return Explanation(
        "Without matrices, k = q = v = x",
        parts=[
            Table(("added to x₂", "c₂ nearly", "off by", "off u_b by"), rows),
            "Every token scores highest with itself, and u_b lies outside the hull of the tokens:"
            " no mean of them is near it.",
        ],
        data=found,
    )


def _with(matrices: Matrices, beta: float, *, tolerance: float, own: bool) -> Explanation:
    """Try matrices at one length of the words, and follow their error over others."""
    contexts, rate = self_attention(word_tokens(beta), matrices), rate_in_beta(matrices)
    wanted, errors = wanted_contexts(beta), context_errors(beta, matrices)
    worst = max(errors.values())
    return Explanation(
        "Your matrices" if own else "The construction",
        "right" if worst <= tolerance else "wrong",
        f"largest error {number(worst, 2)}, allowed {number(tolerance)}",
        parts=[
            _matrices_part(matrices, own=own),
            _contexts_table(contexts, beta, errors=errors),
            *_rate_parts(rate),
        ],
        data={
            "matrices": matrices, "contexts": contexts, "wanted": wanted, "errors": errors,
            "rate": rate, "tolerance": tolerance,
        },
        is_users=own,
    )  # fmt: skip


def _matrices_part(matrices: Matrices, *, own: bool) -> Part:
    if not own:
        return "V = (u_b u_bᵀ - u_c u_cᵀ)/β², K = I, Q = (u_d u_aᵀ + u_c u_dᵀ)/β²"
    named = {"K": matrices.key, "Q": matrices.query, "V": matrices.value}
    rows = [
        (f"{name} {word}", *image)
        for name, matrix in named.items()
        for word, image in zip(WORDS, matrix.T, strict=True)  # column j is the image of word j
    ]
    return Table(("", *WORDS), rows)


def _contexts_table(contexts: Contexts, beta: float, *, errors: dict[int, float]) -> Table:
    wanted = wanted_contexts(beta)
    rows = [
        (
            f"c{'₁₂₃'[token]}",
            vector(contexts.weights[token], 3),
            combination(np.round(contexts.outputs[token] / beta, 4), WORDS),
            combination(wanted[token] / beta, WORDS),
            number(errors[token], 2),
        )
        for token in sorted(wanted)
    ]
    return Table(("", "looks at x₁, x₂, x₃", "context", "wanted", "error"), rows)


def _rate_parts(rate: Rate) -> list[Part]:
    errors = [number(float(row.max()), 2) for row in rate.errors]
    falls = f"The error falls like β·exp(-{rate.rate:.2f} β²)."
    return [
        Table(("β", *(f"{beta:g}" for beta in rate.betas)), [("error", *errors)]),
        falls if rate.rate > 0.01 else "The error does not fall as words grow.",
    ]
