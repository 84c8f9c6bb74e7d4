"""What a query can do, on a terminal: verdict, query, weights, or the proof that none exists."""

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.geometry.beyond_weights import OutputExplained, RepairExplained
from attnlab.geometry.explanation import IdentityExplained, Reached, WeightsExplained
from attnlab.geometry.outputs import OutputSolution
from attnlab.geometry.weights import QueryPath, WeightSolution, worst
from attnlab.report.geometry.answers import answer_view, evaluated_view, tokens_table
from attnlab.report.geometry.words import (
    headline,
    number,
    proof,
    target_words,
    vector,
    verdict_word,
)
from attnlab.report.terminal import add_row, table_of

MEANING = {
    "exact": "One query has these weights; this is the shortest.",
    "limit": "No query is exact, since softmax gives every key some weight;"
    " but q = q₀ + t·u comes as near as you like.",
    "never": "No query comes near, however long.",
}


def weights_view(explained: WeightsExplained) -> RenderableType:
    """Show a question about weights."""
    solution = explained.solution
    parts: list[RenderableType] = [
        headline(_capital(target_words(solution.target)), solution.verdict),
        Text(MEANING[solution.verdict]),
        "",
        *_way(explained),
    ]
    if explained.output is not None:
        parts += ["", *_output_alone(explained)]
    if explained.answer is not None:
        parts += ["", answer_view(explained.answer, solution.target[None])]
    return Group(*parts)


def identity_view(explained: IdentityExplained) -> RenderableType:
    """Show for every token whether it can be selected, and the query that does."""
    table = table_of("token", "", "query", "weight")
    proofs: list[RenderableType] = []
    for i, (solution, reached) in enumerate(
        zip(explained.solutions, explained.reached, strict=True)
    ):
        query = "–" if reached is None else vector(reached.query, 6)
        weight = "–" if reached is None else number(float(reached.weights[i]), 9)
        add_row(table, str(i), verdict_word(solution.verdict), query, weight)
        if solution.certificate is not None:
            proofs.append(Text(f"Token {i}: {proof(solution.certificate, solution.target)}"))
    title = headline("Every token selects itself", worst(explained.solutions))
    parts: list[RenderableType] = [title, "", table, *(["", *proofs] if proofs else []), ""]
    return Group(*parts, answer_view(explained.answer, np.eye(explained.instance.n_tokens)))


def output_view(explained: OutputExplained) -> RenderableType:
    """Show a question about the output."""
    solution = explained.solution
    parts = output_parts(solution, f"The output {vector(solution.output)}")
    if explained.reached is not None and solution.weights is not None:
        parts += ["", *_reached(explained.reached, solution.weights)]
    parts += ["", tokens_table(explained.instance)]
    if explained.answer is not None:
        parts += ["", evaluated_view(explained.answer, explained.tolerance)]
    return Group(*parts)


def repair_view(explained: RepairExplained) -> RenderableType:
    """Show the smallest change of one key."""
    token, repair = explained.token, explained.repair
    kind = "key of unit length" if explained.unit else "key"
    wanted = target_words(explained.target)
    done = ("possible", "green") if repair.attained else ("impossible", "red")
    title = Text.assemble((f"A new {kind} for token {token}, to have {wanted}", "bold"), ": ", done)
    table = table_of()
    add_row(table, "query", f"{explained.query_text} = {vector(explained.query)}, unchanged")
    add_row(table, "old key", f"{vector(explained.instance.keys[token])}, error"
            f" {number(explained.before_error)}")  # fmt: skip
    add_row(table, "new key", f"{vector(repair.key, 9)}, error {number(repair.error)}")
    add_row(table, "moved by", number(repair.moved))
    weights = table_of("token", "wanted", "before", "after")
    for i, row in enumerate(zip(explained.target, explained.before, explained.after, strict=True)):
        add_row(weights, str(i), *(number(float(x)) for x in row))
    parts: list[RenderableType] = [title, Text(repair_words(explained)), "", table, "", weights]
    if explained.answer is not None:
        parts += ["", answer_view(explained.answer, explained.target[None])]
    return Group(*parts)


def repair_words(explained: RepairExplained) -> str:
    """Say what limits the change."""
    repair, tolerance = explained.repair, number(explained.tolerance)
    least = f"{number(repair.best_error)} with a weight of {number(repair.best_weight)} on it"
    if repair.attained:
        return (
            f"Only the weight on token {explained.token} can change. The nearest key within"
            f" {tolerance} is shown; the smallest error that any key has is {least}."
        )
    longer = " A longer query could do more." if explained.unit else ""
    return (
        f"Only the weight on token {explained.token} can change, and the smallest error that any"
        f" allowed key has is {least}, above {tolerance}.{longer}"
    )


def _output_alone(explained: WeightsExplained) -> list[RenderableType]:
    """Tell of weights out of reach whether their output is; the same proof is not told twice."""
    output = explained.output
    assert output is not None
    parts = output_parts(output, f"Their output alone, {vector(output.output)}")
    if output.weights is not None and np.allclose(output.weights.target, explained.solution.target):
        return parts[:2]
    if explained.output_reached is not None:
        reached = explained.output_reached
        error = number(reached.output_error, 2)
        parts.append(Text(f"The query {vector(reached.query, 9)} has it but for {error}."))
    return parts


def output_parts(solution: OutputSolution, question: str) -> list[RenderableType]:
    """Tell a verdict on an output and its reason."""
    parts: list[RenderableType] = [
        headline(question, solution.verdict),
        Text(f"{_capital(solution.reason)}."),
    ]
    weights = solution.weights
    if weights is not None and weights.certificate is not None:
        parts.append(Text(proof(weights.certificate, weights.target)))
    elif solution.verdict == "never" and solution.direction is not None and not solution.tokens:
        along = vector(solution.direction)
        parts.append(Text(f"Along {along} every value scores higher than the output does."))
    elif weights is not None:
        parts.append(Text(f"The weights: {vector(weights.target)}."))
    if solution.query is not None:
        parts.append(Text(f"The query of the search: {vector(solution.query, 9)}."))
    return parts


def _way(explained: WeightsExplained) -> list[RenderableType]:
    solution = explained.solution
    if solution.certificate is not None:
        said = Text(proof(solution.certificate, solution.target))
        return [said, "", tokens_table(explained.instance)]
    assert explained.reached is not None
    return _reached(explained.reached, solution)


def _reached(reached: Reached, solution: WeightSolution) -> list[RenderableType]:
    assert solution.path is not None
    table = table_of()
    if solution.verdict == "limit":
        for name, text in path_rows(solution.path, reached):
            add_row(table, name, text)
    add_row(table, "query", vector(reached.query, 9))
    add_row(table, "output", f"{vector(reached.output)}, error {number(reached.output_error, 2)}")
    weights = table_of("token", "wanted", "weight")
    for i, (wanted, weight) in enumerate(zip(solution.target, reached.weights, strict=True)):
        add_row(weights, str(i), number(float(wanted)), number(float(weight)))
    return [table, "", weights]


def path_rows(path: QueryPath, reached: Reached) -> list[tuple[str, str]]:
    """Tell q₀, u, the rate and the scale."""
    factor = number(float(np.exp(path.margin)), 3)
    return [
        ("q₀", vector(path.start, 6)),
        ("u", f"{vector(path.direction, 6)}, which scores the wanted keys {number(path.margin)}"
         " or more above the others"),
        ("t", f"{number(reached.scale, 6)} for an error of at most {number(reached.wanted)};"
         f" each further 1 divides what is left by {factor}"),
        ("bound", f"the others together get at most {number(reached.bound, 2)}"),
    ]  # fmt: skip


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
