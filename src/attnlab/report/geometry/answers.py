"""A proposed answer on a terminal: right or wrong, why, at other scales, and on other keys."""

import math
from collections.abc import Iterator

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.geometry.answers import FAMILIES, Trials
from attnlab.geometry.beyond_weights import Evaluated
from attnlab.geometry.diagnosis import Diagnosis
from attnlab.geometry.explanation import Judged, Ray
from attnlab.geometry.instance import Instance
from attnlab.report.geometry.words import TINY, listed, number, vector
from attnlab.report.terminal import add_row, table_of

FAR = 1e-6
"""An error that is worth a reason."""


def answer_view(answer: Judged, target: np.ndarray) -> RenderableType:
    """Tell what an answer is worth; ``target`` is the wanted weights, a row a query."""
    here = answer.report.here
    table = table_of()
    if len(here.value) == 1:
        add_row(table, "value", vector(here.value[0], 6))
        add_row(table, "weights", vector(here.weights[0]))
    else:
        add_row(table, "weights", f"each token gives itself {vector(np.diag(here.weights))}")
    add_row(table, "here", _verdict(answer))
    if answer.diagnosis is not None and here.error > FAR:
        add_row(table, "why", why(answer.diagnosis, target[0]))
    if answer.ray is not None:
        add_row(table, "scale", scale_words(answer.ray))
    add_row(table, "elsewhere", elsewhere_words(answer))
    parts: list[RenderableType] = [_title(answer.report.text, is_usual=answer.is_usual), table]
    failed = next((t for t in answer.report.elsewhere if t.counterexample is not None), None)
    if failed is not None and not answer.is_usual:
        parts += ["", *counterexample(failed)]
    return Group(*parts)


def evaluated_view(answer: Evaluated, tolerance: float) -> RenderableType:
    """Tell what a proposed query gives, for a wanted output."""
    table = table_of()
    add_row(table, "value", vector(answer.query, 6))
    add_row(table, "weights", vector(answer.weights))
    add_row(table, "output", vector(answer.output))
    verdict = ("wrong", "red") if answer.is_wrong else ("right", "green")
    rest = f": largest error {number(answer.error)}, allowed {number(tolerance)}"
    add_row(table, "here", Text.assemble(verdict, rest))
    return Group(_title(answer.text, is_usual=False), table)


def why(found: Diagnosis, target: np.ndarray) -> str:
    """Name the causes of an error: wanted keys that score unlike, others that score too high."""
    causes = []
    if found.unequal > FAR:
        causes.append(_unequal(found, target))
    if found.lead < 0:
        best = int(np.where(target > 0, -np.inf, found.weights).argmax())
        causes.append(f"Key {best}, which should get nothing, scores higher than a wanted one.")
    elif found.mass_outside > FAR:
        left = number(found.mass_outside, 2)
        causes.append(f"{left} of the weight is left on keys that should get nothing.")
    return " ".join(causes) or "Rounding."


def _unequal(found: Diagnosis, target: np.ndarray) -> str:
    """Say that wanted keys do not share as they should, and what mends it."""
    wanted = np.flatnonzero(target)
    shares = vector(found.weights[wanted])
    if np.ptp(target[wanted]) > 0:
        off = number(found.unequal)
        return f"Its scores of the wanted keys are off by up to {off}: they get {shares}."
    high = wanted[found.weights[wanted].argmax()]
    low = wanted[found.weights[wanted].argmin()]
    said = f"It scores key {high} by {number(found.unequal)} more than key {low}, so the wanted"
    said += f" tokens get {shares}. A query that averages them has nothing along their keys'"
    if np.abs(found.mended).max() <= TINY:
        return f"{said} differences, and this one has nothing else."
    error = number(found.mended_error, 2)
    return f"{said} differences: without that part it is {vector(found.mended, 6)}, error {error}."


def scale_words(ray: Ray) -> str:
    """Tell how the error depends on the scale."""
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


def elsewhere_words(answer: Judged) -> str:
    """Tell how often an answer was right on random instances."""
    if answer.report.is_general is None:
        return "No random instance could be solved at all, so nothing is said."
    counts = [
        f"{trials.passed} of {trials.tried} with {FAMILIES[trials.family]}"
        for trials in answer.report.elsewhere
    ]
    general = "General as far as tried" if answer.report.is_general else "Not general"
    return f"{general}: right on {listed(counts)}, drawn at random."


def counterexample(trials: Trials) -> Iterator[RenderableType]:
    """Show an instance on which the answer fails though another one is right."""
    assert trials.counterexample is not None
    assert trials.counterexample_error is not None
    error = number(trials.counterexample_error)
    yield Text(f"Counter-example, error {error}; another answer is right here:")
    yield tokens_table(trials.counterexample)


def tokens_table(instance: Instance) -> RenderableType:
    """Show keys and values, a token a row."""
    table = table_of("token", "key", "value")
    for i in range(instance.n_tokens):
        add_row(table, str(i), vector(instance.keys[i]), vector(instance.values[i]))
    return table


def _title(text: str, *, is_usual: bool) -> Text:
    return Text(f"{'The usual answer' if is_usual else 'Your answer'} {text}", "bold")


def _verdict(answer: Judged) -> Text:
    here = answer.report.here
    verdict = ("right", "green") if answer.report.passes else ("wrong", "red")
    if here.breaks_length:
        length = number(float(np.linalg.norm(here.value)))
        return Text.assemble(verdict, f": the key must have length 1, it has {length}")
    return Text.assemble(
        verdict, f": largest error {number(here.error, 2)}, allowed {number(answer.tolerance)}"
    )
