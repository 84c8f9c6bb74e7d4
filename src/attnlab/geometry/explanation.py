"""A question fully explained: the verdict, a query that is close enough, an answer.

An answer is the user's own, or else the usual one: S·k_i to select, the mean of all keys to average
all, 10·(k_a + k_b) to average some. It is measured here and elsewhere, and its error is followed
along its multiples, where it need not fall.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnlab.geometry.answers import AnswerReport, Exercise, Rules, check_answer
from attnlab.geometry.diagnosis import Diagnosis, diagnose
from attnlab.geometry.expressions import as_rows, evaluate, names_of, split_scale
from attnlab.geometry.instance import Instance, output_error, output_of, weights_of
from attnlab.geometry.outputs import OutputSolution, solve_output
from attnlab.geometry.scale import ErrorCurve, error_curve
from attnlab.geometry.shapes import Output, Vector, Weights
from attnlab.geometry.weights import WeightSolution, solve_identity, solve_weights

DRAWS = 100
"""Random instances a family, on which an answer is tried; fewer for several queries at once."""

USUAL_MATRIX = "S*K"
"""The usual answer if every token is to select itself."""


@dataclass(frozen=True, eq=False)
class Request:
    """How near a query must come, and the answer to judge."""

    error: float = 1e-6
    """Of every weight and every coordinate of the output."""
    answer: str | None = None
    """The user's; None takes the usual one, if there is one."""
    tolerance: float = 0.05
    """The output's error with which an answer is accepted."""


@dataclass(frozen=True, eq=False)
class Reached:
    """A query that is near enough, and what it gives."""

    wanted: float
    scale: float
    """t of q₀ + t·u; 0 if q₀ is exact."""
    query: Vector
    weights: Weights
    output: Output
    output_error: float
    bound: float
    """What no weight's error exceeds, by the closed form."""


@dataclass(frozen=True, eq=False)
class Ray:
    """The multiples of an answer: S·direction, where the answer itself is at ``scale``."""

    direction: str
    scale: float
    length: float
    """Of the direction, so that S·length is the length of the query."""
    curve: ErrorCurve


@dataclass(frozen=True, eq=False)
class Judged:
    """An answer, what it is worth, and why."""

    report: AnswerReport
    is_usual: bool
    """Whether it is the usual answer, not the user's."""
    tolerance: float
    diagnosis: Diagnosis | None = None
    ray: Ray | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether it is the user's and does not pass."""
        return not self.is_usual and not self.report.passes


@dataclass(frozen=True, eq=False)
class WeightsExplained:
    """Wanted weights: whether, how, and what the answer is worth."""

    instance: Instance
    solution: WeightSolution
    reached: Reached | None
    output: OutputSolution | None
    """If the weights are out of reach: whether their output is."""
    output_reached: Reached | None
    answer: Judged | None


@dataclass(frozen=True, eq=False)
class IdentityExplained:
    """Every token is to select itself."""

    instance: Instance
    solutions: tuple[WeightSolution, ...]
    reached: tuple[Reached | None, ...]
    answer: Judged


def explain_weights(instance: Instance, target: Weights, *, request: Request) -> WeightsExplained:
    """Decide about weights, give a query, and judge the answer."""
    solution = solve_weights(instance.keys, target)
    output = None
    if solution.verdict == "never":
        output = solve_output(instance, target @ instance.values)
    way = None if output is None else output.weights
    answer = usual_answer(target) if request.answer is None else request.answer
    return WeightsExplained(
        instance,
        solution,
        reach(instance, solution, error=request.error),
        output,
        None if way is None else reach(instance, way, error=request.error),
        None
        if answer is None
        else judge(answer, instance, task=Exercise(target[None]), asked=request),
    )


def explain_identity(instance: Instance, *, request: Request) -> IdentityExplained:
    """Decide for every token, and judge the answer for all at once."""
    solutions = solve_identity(instance.keys)
    task = Exercise(np.eye(instance.n_tokens))
    return IdentityExplained(
        instance,
        solutions,
        tuple(reach(instance, solution, error=request.error) for solution in solutions),
        judge(
            USUAL_MATRIX if request.answer is None else request.answer,
            instance,
            task=task,
            asked=request,
        ),
    )


def reach(instance: Instance, solution: WeightSolution, *, error: float) -> Reached | None:
    """Go along a path until every weight and the output are near enough; None without a path."""
    if solution.path is None:
        return None
    widest = float(np.ptp(instance.values, axis=0).max())  # mass outside moves the output so far
    scale = solution.path.scale_for(error / max(1.0, widest))
    query = solution.path.query(scale)
    output = output_of(instance, query)
    off = float(np.abs(output - solution.target @ instance.values).max())
    weights = weights_of(instance.keys, query)
    return Reached(error, scale, query, weights, output, off, solution.path.bound(scale))


def errors_by_length(
    instance: Instance, solution: WeightSolution, *, most: float
) -> tuple[Float[np.ndarray, "N"], Float[np.ndarray, "N"]]:
    """Follow the path of a solution: lengths of its queries up to ``most``, the output's errors."""
    assert solution.path is not None
    queries = [solution.path.query(t) for t in np.geomspace(1e-2, most, 200)]
    errors = [output_error(instance, query, target=solution.target) for query in queries]
    return np.linalg.norm(queries, axis=1), np.array(errors)


def judge(text: str, instance: Instance, *, task: Exercise, asked: Request) -> Judged:
    """Measure an answer here and elsewhere; if it is one query, say why it is off."""
    draws = math.ceil(DRAWS / len(task.target))  # each row of an instance takes its time
    rules = Rules(tolerance=asked.tolerance, draws=draws)
    report = check_answer(text, instance, task=task, rules=rules)
    usual = asked.answer is None
    if task.token is not None or len(task.target) > 1:
        return Judged(report, usual, asked.tolerance)
    target, query = task.target[0], report.here.value[0]
    diagnosis = diagnose(instance, query, target=target)
    return Judged(report, usual, asked.tolerance, diagnosis, _ray(text, instance, target, asked))


def _ray(text: str, instance: Instance, target: Weights, asked: Request) -> Ray | None:
    """Follow the multiples of an answer; the zero query has none."""
    names = names_of(instance)
    scale, rest = split_scale(text, names)
    (direction,) = as_rows(evaluate(rest, names), rows=1, width=instance.keys.shape[1])
    if not direction.any():
        return None
    curve = error_curve(instance, direction, target=target, tolerance=asked.tolerance)
    return Ray(rest, scale, float(np.linalg.norm(direction)), curve)


def usual_answer(target: Weights) -> str | None:
    """Give the answer that is usually given, as an expression; None if there is none."""
    chosen = np.flatnonzero(target)
    if np.ptp(target[chosen]) > 0:
        return None
    if len(chosen) == len(target):
        return "mean(K)"
    return _scaled(chosen.tolist())


def _scaled(tokens: Sequence[int]) -> str:
    if len(tokens) == 1:
        return f"S*k{tokens[0]}"
    return f"10*({'+'.join(f'k{i}' for i in tokens)})"
