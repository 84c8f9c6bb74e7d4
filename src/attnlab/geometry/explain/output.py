"""Can a query have this output, whatever the weights?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnlab.geometry.explain.answer import Request
from attnlab.geometry.explain.way import OURS, given, way_parts
from attnlab.geometry.explanation import Explanation, Part
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance, weights_of
from attnlab.geometry.outputs import OutputSolution, solve_output
from attnlab.geometry.panels import Bars, Panel, Space
from attnlab.geometry.shapes import Output, Weights
from attnlab.geometry.weights import Reached, reach
from attnlab.geometry.words import capital, number, proof, vector


def explain_output(instance: Instance, target: str, *, request: Request) -> Explanation:
    """Decide about an output, given as an expression or as numbers."""
    width = instance.values.shape[1]
    output = vector_of(target, names_of(instance), width=width, what="target")
    answer = None
    if request.answer is not None:
        answer = _answer(request.answer, instance, output=output, tolerance=request.tolerance)
    asked = Explanation(
        f"The output {vector(output)}",
        parts=[given(instance)],
        data={"instance": instance, "request": request},
        panels=_panels(instance, output, answer=answer),
        answer=answer,
        hides_solution=request.hides_solution,
    )
    if request.hides_solution:
        return asked
    solution, reached = _solve(instance, output, error=request.error)
    parts = _solution_parts(solution)
    if reached is not None and solution.weights is not None:
        parts += way_parts(solution.weights, reached)
    return replace(
        asked,
        verdict=solution.verdict,
        parts=[*asked.parts, *parts],
        data={**asked.data, "solution": solution, "reached": reached},
        panels=_panels(instance, output, answer=answer, reached=reached, tokens=solution.tokens),
    )


def explain_output_alone(instance: Instance, target: Weights, *, error: float) -> Explanation:
    """Of weights out of reach, decide about their output; the same proof is not given twice."""
    solution, reached = _solve(instance, target @ instance.values, error=error)
    parts = _solution_parts(solution)
    if solution.weights is not None and np.allclose(solution.weights.target, target):
        parts = parts[:1]
    elif reached is not None:
        off = number(reached.output_error, 2)
        parts.append(f"The query {vector(reached.query, 9)} gives it to within {off}.")
    return Explanation(
        f"Their output alone, {vector(solution.output)}",
        solution.verdict,
        parts=parts,
        data={"solution": solution, "reached": reached},
    )


def _solve(
    instance: Instance, output: Output, *, error: float
) -> tuple[OutputSolution, Reached | None]:
    solution = solve_output(instance, output)
    way = solution.weights
    return solution, None if way is None else reach(instance, way, error=error)


def _solution_parts(solution: OutputSolution) -> list[Part]:
    """Give the reason for a verdict on an output: a proof, the weights, or what a search found."""
    parts: list[Part] = [f"{capital(solution.reason)}."]
    weights = solution.weights
    if weights is not None and weights.certificate is not None:
        parts.append(proof(weights.certificate, weights.target))
    elif solution.verdict == "never" and solution.direction is not None and not solution.tokens:
        along = vector(solution.direction)
        parts.append(f"Along {along} every value scores higher than the output does.")
    elif weights is not None:
        parts.append(f"The weights: {vector(weights.target)}.")
    if solution.query is not None:
        parts.append(f"The query of the search: {vector(solution.query, 9)}.")
    return parts


def _answer(text: str, instance: Instance, *, output: Output, tolerance: float) -> Explanation:
    """Work out a proposed query and compare its output with the wanted one."""
    query = vector_of(text, names_of(instance), width=instance.keys.shape[1], what="answer")
    weights = weights_of(instance.keys, query)
    given = weights @ instance.values
    error = float(np.abs(given - output).max())
    return Explanation(
        f"Your answer {text}",
        "right" if error <= tolerance else "wrong",
        f"largest error {number(error)}, allowed {number(tolerance)}",
        parts=[{"value": vector(query, 6), "weights": vector(weights), "output": vector(given)}],
        data={"text": text, "query": query, "weights": weights, "output": given, "error": error,
              "tolerance": tolerance},
        is_users=True,
    )  # fmt: skip


def _panels(
    instance: Instance,
    output: Output,
    *,
    answer: Explanation | None,
    reached: Reached | None = None,
    tokens: Sequence[int] = (),
) -> list[Panel]:
    """Weights as bars, the keys, the values with the output among them."""
    series, directions, outputs = {}, {}, {"wanted": output}
    if reached is not None:
        series[OURS], directions[OURS] = reached.weights, reached.query
    if answer is not None:
        made = answer.data
        series[made["text"]], directions[made["text"]] = made["weights"], made["query"]
        outputs[made["text"]] = made["output"]
    return [
        *([Bars(series)] if series else []),
        Space(instance.keys, directions=directions, chosen=tokens),
        Space(instance.values, "values", marks=outputs),
    ]
