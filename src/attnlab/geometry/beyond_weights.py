"""Two further questions, explained: reaching an output, and changing a key."""

from dataclasses import dataclass

import numpy as np

from attnlab.geometry.answers import Exercise
from attnlab.geometry.explanation import Judged, Reached, Request, judge, reach
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance, output_error, output_of, weights_of
from attnlab.geometry.outputs import OutputSolution, solve_output
from attnlab.geometry.repair import Repair, repair_key, with_key
from attnlab.geometry.shapes import Output, Vector, Weights


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A query that somebody proposed, worked out."""

    text: str
    query: Vector
    weights: Weights
    output: Output
    error: float
    is_wrong: bool


@dataclass(frozen=True, eq=False)
class OutputExplained:
    """A wanted output: whether, how, and what the answer gives."""

    instance: Instance
    solution: OutputSolution
    reached: Reached | None
    answer: Evaluated | None
    tolerance: float


@dataclass(frozen=True, eq=False)
class RepairExplained:
    """One key is to change so that an unchanged query gives a wanted mean."""

    instance: Instance
    token: int
    target: Weights
    query_text: str
    query: Vector
    unit: bool
    tolerance: float
    before: Weights
    """The weights with the old key."""
    before_error: float
    after: Weights
    repair: Repair
    answer: Judged | None


def explain_output(instance: Instance, target: str, *, request: Request) -> OutputExplained:
    """Decide about an output, given as an expression or as numbers."""
    width = instance.values.shape[1]
    output = vector_of(target, names_of(instance), width=width, what="target")
    solution = solve_output(instance, output)
    way = solution.weights
    reached = None if way is None else reach(instance, way, error=request.error)
    answer = None
    if request.answer is not None:
        answer = evaluated(request.answer, instance, output=output, tolerance=request.tolerance)
    return OutputExplained(instance, solution, reached, answer, request.tolerance)


def evaluated(text: str, instance: Instance, *, output: Output, tolerance: float) -> Evaluated:
    """Work out a proposed query and compare its output with the wanted one."""
    query = vector_of(text, names_of(instance), width=instance.keys.shape[1], what="answer")
    given = output_of(instance, query)
    error = float(np.abs(given - output).max())
    weights = weights_of(instance.keys, query)
    return Evaluated(text, query, weights, given, error, not error <= tolerance)


def explain_repair(instance: Instance, task: Exercise, *, request: Request) -> RepairExplained:
    """Find the nearest key that does, and judge the user's."""
    assert task.token is not None
    assert task.query is not None
    width, target = instance.keys.shape[1], task.target[0]
    query = vector_of(task.query, names_of(instance), width=width, what="query")
    repair = repair_key(
        instance,
        query,
        token=task.token,
        target=target,
        tolerance=request.tolerance,
        unit=task.unit,
    )
    return RepairExplained(
        instance,
        task.token,
        target,
        task.query,
        query,
        task.unit,
        request.tolerance,
        weights_of(instance.keys, query),
        output_error(instance, query, target=target),
        weights_of(with_key(instance, task.token, repair.key).keys, query),
        repair,
        None
        if request.answer is None
        else judge(request.answer, instance, task=task, asked=request),
    )
