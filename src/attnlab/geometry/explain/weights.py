"""Can a query have these weights? One set of weights, or every token selecting itself."""

import numpy as np

from attnlab.geometry.answers import AnswerReport, Exercise
from attnlab.geometry.explain.answer import Request, explain_answer, usual_answer
from attnlab.geometry.explain.output import explain_output_alone
from attnlab.geometry.explain.way import OURS, tokens_table, way_parts
from attnlab.geometry.explanation import Explanation, Part, Table
from attnlab.geometry.instance import Instance
from attnlab.geometry.panels import Bars, Curves, Heat, Panel, Space
from attnlab.geometry.shapes import Weights
from attnlab.geometry.weights import (
    Reached,
    WeightSolution,
    errors_by_length,
    reach,
    solve_identity,
    solve_weights,
    worst,
)
from attnlab.geometry.words import capital, number, proof, target_words, vector

MEANING = {
    "exact": "One query has these weights; this is the shortest.",
    "limit": "No query is exact, since softmax gives every key some weight;"
    " but q = q₀ + t·u comes as near as you like.",
    "never": "No query comes near, however long.",
}
LONGEST = 1e3
"""Queries are followed up to this length."""


def explain_weights(instance: Instance, target: Weights, *, request: Request) -> Explanation:
    """Decide about weights, give a query, and judge the answer."""
    solution = solve_weights(instance.keys, target)
    reached = reach(instance, solution, error=request.error)
    parts: list[Part] = [MEANING[solution.verdict]]
    if solution.certificate is not None:
        parts += [proof(solution.certificate, target), tokens_table(instance)]
        parts.append(explain_output_alone(instance, target, error=request.error))
    elif reached is not None:
        parts += way_parts(solution, reached)
    task = Exercise(target[None], tolerance=request.tolerance)
    answer = explain_answer(instance, task, request=request, usual=usual_answer(target))
    return Explanation(
        capital(target_words(target)),
        solution.verdict,
        parts=parts,
        data={"instance": instance, "request": request, "solution": solution, "reached": reached},
        panels=_panels(
            instance,
            solution,
            reached=reached,
            report=None if answer is None else answer.data,
            tolerance=request.tolerance,
        ),
        answer=answer,
    )


def _panels(
    instance: Instance,
    solution: WeightSolution,
    *,
    reached: Reached | None,
    report: AnswerReport | None,
    tolerance: float,
) -> list[Panel]:
    """Weights as bars, the error against the length of the query, the keys."""
    series, directions, lines = {"wanted": solution.target}, {}, {}
    if reached is not None:
        series[OURS], directions[OURS] = reached.weights, reached.query
    if solution.verdict == "limit":
        lines[OURS] = errors_by_length(instance, solution, most=LONGEST)
    if report is not None:
        series[report.text], directions[report.text] = report.here.weights[0], report.here.value[0]
        if report.ray is not None:
            curve = report.ray.curve
            lines[f"S·{report.ray.direction}"] = curve.scales * report.ray.length, curve.errors
    errors = Curves(
        "length of the query",
        "largest error of the output",
        lines,
        log="xy",
        x_range=(0.05, LONGEST),
        allowed=tolerance,
    )
    chosen = np.flatnonzero(solution.target).tolist()
    keys = Space(instance.keys, directions=directions, chosen=chosen)
    return [Bars(series), *([errors] if lines else []), keys]


def explain_identity(instance: Instance, *, request: Request) -> Explanation:
    """Decide for every token whether it can select itself, and judge the answer for all at once."""
    solutions = solve_identity(instance.keys)
    reached = [reach(instance, solution, error=request.error) for solution in solutions]
    rows, proofs = [], []
    for i, (solution, way) in enumerate(zip(solutions, reached, strict=True)):
        query = "–" if way is None else vector(way.query, 6)
        weight = "–" if way is None else number(float(way.weights[i]), 9)
        rows.append((i, solution.verdict, query, weight))
        if solution.certificate is not None:
            proofs.append(f"Token {i}: {proof(solution.certificate, solution.target)}")
    task = Exercise(np.eye(instance.n_tokens), tolerance=request.tolerance)
    answer = explain_answer(instance, task, request=request, usual="S*K")
    assert answer is not None
    unknown = np.full(instance.n_tokens, np.nan)
    ours = np.stack([unknown if way is None else way.weights for way in reached])
    return Explanation(
        "Every token selects itself",
        worst(solutions),
        parts=[Table(("token", "verdict", "query", "weight"), rows), *proofs],
        data={"instance": instance, "request": request, "solutions": solutions, "reached": reached},
        panels=[
            Heat("our queries", ours),
            Heat(answer.data.text, answer.data.here.weights),
            Space(instance.keys, chosen=[r[0] for r in rows if r[1] == "never"]),
        ],
        answer=answer,
    )
