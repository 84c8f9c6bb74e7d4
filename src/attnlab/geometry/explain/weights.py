"""Can a query have these weights? One set of weights, or every token selecting itself."""

from dataclasses import replace
from functools import partial

import numpy as np

from attnlab.geometry.answers import AnswerReport, Exercise
from attnlab.geometry.explain.answer import Request, explain_answer, usual_answer
from attnlab.geometry.explain.output import explain_output_alone
from attnlab.geometry.explain.way import OURS, given, way_parts
from attnlab.geometry.explanation import Explanation, Part, Table
from attnlab.geometry.instance import Instance
from attnlab.geometry.panels import Bars, Curves, Heat, Panel, Space
from attnlab.geometry.scale import DRAWN
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


def explain_weights(instance: Instance, target: Weights, *, request: Request) -> Explanation:
    """Decide about weights, give a query, and judge the answer."""
    task = Exercise(target[None], tolerance=request.tolerance)
    answer = explain_answer(instance, task, request=request, usual=usual_answer(target))
    asked = Explanation(
        capital(target_words(target)),
        parts=[given(instance)],
        data={"instance": instance, "request": request},
        answer=answer,
        hides_solution=request.hides_solution,
    )
    report = None if answer is None else answer.data
    panels = partial(_panels, instance, target, report=report, task=task)
    if request.hides_solution:
        return replace(asked, panels=panels())
    solution = solve_weights(instance.keys, target)
    reached = reach(instance, solution, error=request.error)
    return replace(
        asked,
        verdict=solution.verdict,
        parts=[*asked.parts, *_solution_parts(instance, solution, reached, error=request.error)],
        data={**asked.data, "solution": solution, "reached": reached},
        panels=panels(ours=(solution, reached)),
    )


def _solution_parts(
    instance: Instance, solution: WeightSolution, reached: Reached | None, *, error: float
) -> list[Part]:
    """Give a proof that nothing comes near, or the way to the weights."""
    parts: list[Part] = [MEANING[solution.verdict]]
    if solution.certificate is not None:
        parts.append(proof(solution.certificate, solution.target))
        parts.append(explain_output_alone(instance, solution.target, error=error))
    elif reached is not None:
        parts += way_parts(solution, reached)
    return parts


def _panels(
    instance: Instance,
    target: Weights,
    *,
    report: AnswerReport | None,
    task: Exercise,
    ours: tuple[WeightSolution, Reached | None] | None = None,
) -> list[Panel]:
    """Weights as bars, the error against the length of the query, the keys."""
    series, directions, lines = {"wanted": target}, {}, {}
    solution, reached = ours or (None, None)
    if reached is not None:
        series[OURS], directions[OURS] = reached.weights, reached.query
    if solution is not None and solution.verdict == "limit":
        lines[OURS] = errors_by_length(instance, solution, most=DRAWN[1])
    if report is not None:
        series[report.text], directions[report.text] = report.here.weights[0], report.here.value[0]
        if report.ray is not None:
            curve = report.ray.curve
            lines[report.ray.name] = curve.scales * report.ray.length, curve.errors
    errors = Curves(
        "length of the query",
        "largest error of the output",
        lines,
        log="xy",
        x_range=DRAWN,
        allowed=task.tolerance,
    )
    chosen = np.flatnonzero(target).tolist()
    keys = Space(instance.keys, directions=directions, chosen=chosen)
    return [Bars(series), *([errors] if lines else []), keys]


def explain_identity(instance: Instance, *, request: Request) -> Explanation:
    """Decide for every token whether it can select itself, and judge the answer for all at once."""
    task = Exercise(np.eye(instance.n_tokens), tolerance=request.tolerance)
    answer = explain_answer(instance, task, request=request, usual="S*K")
    assert answer is not None
    theirs = Heat(answer.data.text, answer.data.here.weights)
    asked = Explanation(
        "Every token selects itself",
        parts=[given(instance)],
        data={"instance": instance, "request": request},
        panels=[theirs, Space(instance.keys)],
        answer=answer,
        hides_solution=request.hides_solution,
    )
    return asked if request.hides_solution else _with_queries(asked, instance, request=request)


def _with_queries(asked: Explanation, instance: Instance, *, request: Request) -> Explanation:
    """Add the query of every token, or the proof that it has none."""
    solutions = solve_identity(instance.keys)
    reached = [reach(instance, solution, error=request.error) for solution in solutions]
    rows, proofs = [], []
    for i, (solution, way) in enumerate(zip(solutions, reached, strict=True)):
        query = "–" if way is None else vector(way.query, 6)
        weight = "–" if way is None else number(float(way.weights[i]), 9)
        rows.append((i, solution.verdict, query, weight))
        if solution.certificate is not None:
            proofs.append(f"Token {i}: {proof(solution.certificate, solution.target)}")
    unknown = np.full(instance.n_tokens, np.nan)
    ours = np.stack([unknown if way is None else way.weights for way in reached])
    never = [r[0] for r in rows if r[1] == "never"]
    return replace(
        asked,
        verdict=worst(solutions),
        parts=[*asked.parts, Table(("token", "verdict", "query", "weight"), rows), *proofs],
        data={**asked.data, "solutions": solutions, "reached": reached},
        panels=[Heat("our queries", ours), asked.panels[0], Space(instance.keys, chosen=never)],
    )
