"""A proposed answer: right or wrong, why, at other scales, and on other keys.

An answer is the user's own, or else the usual one: S·k_i to select, the mean of all keys to average
all, 10·(k_a + k_b) to average some.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from attnlab.geometry.answers import FAMILIES, AnswerReport, Attempt, Exercise, Trials, check_answer
from attnlab.geometry.diagnosis import Diagnosis
from attnlab.geometry.explain.way import tokens_table
from attnlab.geometry.explanation import Explanation, Part
from attnlab.geometry.instance import Instance
from attnlab.geometry.scale import ErrorCurve, Ray
from attnlab.geometry.shapes import Weights
from attnlab.geometry.words import TINY, capital, listed, number, vector

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
    solution: bool = False
    """Whether to show ours as well if the user gave an answer."""

    @property
    def hides_solution(self) -> bool:
        """Whether the user checks an answer and wants to go on thinking."""
        return self.answer is not None and not self.solution


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
        parts=[
            facts(report, task.target, hides_solution=request.hides_solution),
            *(_counterexample(report) if is_users else []),
        ],
        data=replace(report, diagnosis=None) if request.hides_solution else report,
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


def facts(
    report: AnswerReport, target: Float[np.ndarray, "R S"], *, hides_solution: bool = False
) -> dict[str, str]:
    """Say what an answer gives, why it is off, and how it does at other scales and elsewhere."""
    here = report.here
    if len(here.value) == 1:
        found = {"value": vector(here.value[0], 6), "weights": vector(here.weights[0])}
    else:
        found = {"weights": f"each token gives itself {vector(np.diag(here.weights))}"}
    if report.diagnosis is not None and here.error > FAR:
        mends = not hides_solution
        found["why"] = why(report.diagnosis, here.weights[0], target=target[0], mends=mends)
    if report.ray is not None:
        found["scale"] = scale_words(report.ray)
    return {**found, "elsewhere": elsewhere_words(report)}


def why(found: Diagnosis, weights: Weights, *, target: Weights, mends: bool = True) -> str:
    """Name the causes of an error: wanted keys that score unlike, others that score too high."""
    causes = []
    if found.unequal > FAR:
        causes.append(_unequal(found, weights, target=target, mends=mends))
    if found.lead < 0:
        best = int(np.where(target > 0, -np.inf, weights).argmax())
        causes.append(f"Key {best}, which should get nothing, scores higher than a wanted one.")
    elif found.mass_outside > FAR:
        left = number(found.mass_outside, 2)
        causes.append(f"{left} of the weight is left on keys that should get nothing.")
    return " ".join(causes) or "Rounding."


def _unequal(found: Diagnosis, weights: Weights, *, target: Weights, mends: bool) -> str:
    """Say that wanted keys do not share as they should and, if asked, what mends it."""
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
    if not mends:
        return f"{said} differences."
    error = number(found.mended_error, 2)
    return f"{said} differences: without that part it is {vector(found.mended, 6)}, error {error}."


def scale_words(ray: Ray) -> str:
    """Say how the error depends on the scale."""
    curve, name = ray.curve, ray.name
    if curve.is_constant:
        same = f"the same error for every S > 0 ({number(curve.end_error)})"
        return f"{name} has {same}: it scores all keys alike."
    tokens = f"token{'s' if len(curve.end) > 1 else ''} {listed(curve.end)}"
    end = f"as S grows the weight goes to {tokens} (error {number(curve.end_error)})"
    allowed = number(curve.tolerance)
    if not curve.inside:
        return f"{name} is not within {allowed} for any S > 0; {end}."
    inside = " and ".join(stretch_words(stretch) for stretch in curve.inside)
    if len(curve.inside) == 1 and math.isinf(curve.inside[0][1]):
        return f"{name} is within {allowed} {inside}; {end}."
    return f"The error of {name} is {_least_words(curve)}, within {allowed} {inside}; {end}."


def _least_words(curve: ErrorCurve) -> str:
    """Say where the error is least: at a scale, or only in a limit."""
    if curve.start_error <= curve.best_error:
        return f"least as S → 0 ({number(curve.start_error, 2)})"
    if curve.end_error <= curve.best_error:
        return f"least as S grows ({number(curve.end_error, 2)})"
    return f"least at S = {curve.best_scale:.3g} ({number(curve.best_error, 2)})"


def stretch_words(stretch: tuple[float, float]) -> str:
    """Name a stretch of scales from 0 or above to a number or ∞."""
    low, high = stretch
    if low > 0:
        start = f"S = {_three_digits(low, math.ceil)}"
        return (
            f"from {start} on"
            if math.isinf(high)
            else (f"from {start} to {_three_digits(high, math.floor)}")
        )
    return (
        "for every S > 0"
        if math.isinf(high)
        else (f"for every S > 0 up to {_three_digits(high, math.floor)}")
    )


def _three_digits(value: float, rounded: Callable[[float], int]) -> str:
    """Round an end to three digits, so that it still lies inside."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{rounded(round(value / unit, 6)) * unit:.3g}"


def elsewhere_words(report: AnswerReport) -> str:
    """Say how often an answer was right on random instances."""
    tried = [trials for trials in report.elsewhere if trials.tried]
    untried = [FAMILIES[trials.family] for trials in report.elsewhere if not trials.tried]
    nothing = f"No drawn instance with {' or '.join(untried)} has a right answer"
    if not tried:
        return f"{nothing}, so this says nothing."
    counts = [f"{t.passed} of {t.tried} with {FAMILIES[t.family]}" for t in tried]
    right = f"right on {listed(counts)}, drawn at random."
    verdict = {True: "General as far as tried: ", False: "Not general: ", None: ""}
    said = capital(f"{verdict[report.is_general]}{right}")
    return f"{said} {nothing}." if untried else said


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
