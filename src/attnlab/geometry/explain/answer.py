"""A proposed answer: right or wrong, why, at other scales, and on other keys.

An answer is the user's own, or else the usual one: S·k_i to select, the mean of all keys to average
all, 10·(k_a + k_b) to average some.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnlab.geometry.answers import FAMILIES, AnswerReport, Attempt, Exercise, Trials, check_answer
from attnlab.geometry.diagnosis import Diagnosis
from attnlab.geometry.explain.way import tokens_table
from attnlab.geometry.explanation import Explanation, Part
from attnlab.geometry.instance import Instance
from attnlab.geometry.scale import Ray
from attnlab.geometry.shapes import Weights
from attnlab.geometry.words import TINY, listed, number, vector

DRAWS = 100
"""Random instances per family, on which an answer is tried; fewer for several queries at once."""
FAR = 1e-6
"""An error that is worth a reason."""


@dataclass(frozen=True, eq=False)
class Request:
    """How near a query must come, and the answer to judge."""

    error: float = 1e-6
    """Of every weight and every coordinate of the output."""
    answer: str | None = None
    """The user's; None takes the usual one, if there is one."""
    tolerance: float = 0.05
    """The output's error with which an answer is accepted."""


def explain_answer(
    instance: Instance, task: Exercise, *, request: Request, usual: str | None = None
) -> Explanation | None:
    """Judge the user's answer, or else the usual one; None if there is neither."""
    text = usual if request.answer is None else request.answer
    if text is None:
        return None
    draws = math.ceil(DRAWS / len(task.target))  # each row of an instance takes its time
    report = check_answer(text, instance, task=task, draws=draws)
    is_users = request.answer is not None
    return Explanation(
        f"{'Your answer' if is_users else 'The usual answer'} {text}",
        "right" if report.here.passes else "wrong",
        _error_words(report.here, task.tolerance),
        parts=[facts(report, task.target), *(_counterexample(report) if is_users else [])],
        data=report,
        is_users=is_users,
    )


def usual_answer(target: Weights) -> str | None:
    """Give the answer that is usually given, as an expression; None if there is none."""
    chosen = np.flatnonzero(target)
    if np.ptp(target[chosen]) > 0:
        return None
    if len(chosen) == len(target):
        return "mean(K)"
    keys = [f"k{i}" for i in chosen]
    return f"S*{keys[0]}" if len(keys) == 1 else f"10*({'+'.join(keys)})"


def facts(report: AnswerReport, target: Float[np.ndarray, "R S"]) -> dict[str, str]:
    """Say what an answer gives, why it is off, and how it does at other scales and elsewhere."""
    here = report.here
    if len(here.value) == 1:
        found = {"value": vector(here.value[0], 6), "weights": vector(here.weights[0])}
    else:
        found = {"weights": f"each token gives itself {vector(np.diag(here.weights))}"}
    if report.diagnosis is not None and here.error > FAR:
        found["why"] = why(report.diagnosis, here.weights[0], target=target[0])
    if report.ray is not None:
        found["scale"] = scale_words(report.ray)
    return {**found, "elsewhere": elsewhere_words(report)}


def why(found: Diagnosis, weights: Weights, *, target: Weights) -> str:
    """Name the causes of an error: wanted keys that score unlike, others that score too high."""
    causes = []
    if found.unequal > FAR:
        causes.append(_unequal(found, weights, target=target))
    if found.lead < 0:
        best = int(np.where(target > 0, -np.inf, weights).argmax())
        causes.append(f"Key {best}, which should get nothing, scores higher than a wanted one.")
    elif found.mass_outside > FAR:
        left = number(found.mass_outside, 2)
        causes.append(f"{left} of the weight is left on keys that should get nothing.")
    return " ".join(causes) or "Rounding."


def _unequal(found: Diagnosis, weights: Weights, *, target: Weights) -> str:
    """Say that wanted keys do not share as they should, and what mends it."""
    wanted = np.flatnonzero(target)
    shares = vector(weights[wanted])
    if np.ptp(target[wanted]) > 0:
        off = number(found.unequal)
        return f"Its scores of the wanted keys are off by up to {off}: they get {shares}."
    high = wanted[weights[wanted].argmax()]
    low = wanted[weights[wanted].argmin()]
    said = f"It scores key {high} higher than key {low} by {number(found.unequal)}, so the wanted"
    said += f" tokens get {shares}. A query that averages them has nothing along their keys'"
    if np.abs(found.mended).max() <= TINY:
        return f"{said} differences, and this one has nothing else."
    error = number(found.mended_error, 2)
    return f"{said} differences: without that part it is {vector(found.mended, 6)}, error {error}."


def scale_words(ray: Ray) -> str:
    """Say how the error depends on the scale."""
    curve, name = ray.curve, f"S·{ray.direction}"
    tokens = f"token{'s' if len(curve.end) > 1 else ''} {listed(curve.end)}"
    end = f"as S grows the weight goes to {tokens} (error {number(curve.end_error)})"
    allowed = number(curve.tolerance)
    if not curve.inside:
        return f"{name} is not within {allowed} for any S; {end}."
    if curve.end_error <= curve.tolerance:
        return f"{name} is within {allowed} from S = {inwards(curve.inside[-1])[0]} on; {end}."
    best = f"least at S = {curve.best_scale:.3g} ({number(curve.best_error, 2)})"
    inside = " and ".join("{} to {}".format(*inwards(stretch)) for stretch in curve.inside)
    return (
        f"The error of {name} does not simply fall with S: {best}, within {allowed} for S from"
        f" {inside}; {end}."
    )


def inwards(stretch: tuple[float, float]) -> tuple[str, str]:
    """Round the ends of a stretch to three digits, so that both lie inside."""
    written = []
    for value, rounded in zip(stretch, (math.ceil, math.floor), strict=True):
        unit = 10.0 ** (math.floor(math.log10(value)) - 2)
        written.append(f"{rounded(round(value / unit, 6)) * unit:.3g}")
    return written[0], written[1]


def elsewhere_words(report: AnswerReport) -> str:
    """Say how often an answer was right on random instances."""
    if report.is_general is None:
        return "No random instance has a right answer, so this says nothing."
    counts = [
        f"{trials.passed} of {trials.tried} with {FAMILIES[trials.family]}"
        for trials in report.elsewhere
    ]
    general = "General as far as tried" if report.is_general else "Not general"
    return f"{general}: right on {listed(counts)}, drawn at random."


def _counterexample(report: AnswerReport) -> list[Part]:
    """Show the first instance on which the answer fails though another one is right."""
    for trials in report.elsewhere:
        match trials:
            case Trials(counterexample=Instance() as instance, counterexample_error=float(error)):
                title = f"Counter-example, error {number(error)}; another answer is right here"
                return [Explanation(title, parts=[tokens_table(instance)])]
    return []


def _error_words(here: Attempt, tolerance: float) -> str:
    if here.breaks_length:
        return f"the key must have length 1, it has {number(float(np.linalg.norm(here.value)))}"
    return f"largest error {number(here.error, 2)}, allowed {number(tolerance)}"
