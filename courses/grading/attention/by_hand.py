"""1.2 to 1.4: do the queries and keys of A2S1 do what is asked, within the document's tolerance?

Each answer is judged as ``attnlab attention solve … --answer`` does: by what attention gives with
it, so that a right answer that is not ours counts.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attnlab.errors import UserError
from attnlab.geometry.answers import Attempt, Exercise, measure
from attnlab.geometry.diagnosis import diagnose
from attnlab.geometry.examples import cse517
from attnlab.geometry.explain.answer import why
from attnlab.geometry.expressions import as_rows
from attnlab.geometry.instance import LARGEST
from attnlab.geometry.repair import repair_key
from attnlab.geometry.targets import average, select
from attnlab.geometry.words import number, vector
from grading.attention.probe import QUERY
from grading.findings import Finding, Part, judge, not_judged
from grading.probing import Answer

GIVEN = cse517()
N, WIDTH = GIVEN.keys.shape
POINTS = {"1.2": 8.0, "1.3": 8.0, "1.4": 8.0}
"""The document gives 10 to each; 2 of them we leave to the third question, which is written."""
TITLES = {"1.2": "selection", "1.3": "averaging", "1.4": "interactions"}


class Question(NamedTuple):
    """A question whose answer is numbers."""

    number: str
    function: str
    wanted: str
    task: Exercise


QUESTIONS = (
    Question("1.2.1", "select_first", "a query that returns v0", Exercise(select(N, 0)[None])),
    Question("1.2.2", "select_all", "queries, one per row, that return V", Exercise(np.eye(N))),
    Question(
        "1.3.1", "average_all", "a query that averages V", Exercise(average(N, range(N))[None])
    ),
    Question("1.3.2", QUERY, "a query that averages v0 and v1", Exercise(average(N, [0, 1])[None])),
    Question(
        "1.4.1",
        "key_to_average",
        "a third key with which your query of 1.3.2 averages v0, v1 and v2",
        Exercise(average(N, [0, 1, 2])[None], token=2),
    ),
    Question(
        "1.4.2",
        "key_to_select",
        "a third key of length 1 with which your query of 1.3.2 returns v2",
        Exercise(select(N, 2)[None], token=2, unit=True),
    ),
)


def request() -> dict[str, Any]:
    """Say what the probe is to call, and with what."""
    functions = {q.function: "keys" if q.task.token is None else QUERY for q in QUESTIONS}
    return {"kind": "functions", "functions": functions, "keys": GIVEN.keys.tolist()}


def grade(answer: Answer, notes: Sequence[str] = ()) -> list[Part]:
    """Judge every answer; each earns its share of the part's points."""
    findings = {question: _judged(question, answer) for question in QUESTIONS}
    return [
        Part(
            part,
            TITLES[part],
            [f for question, f in findings.items() if question.number.startswith(part)],
            points,
            shared=True,
            notes=notes if part == "1.2" else (),
        )
        for part, points in POINTS.items()
    ]


def _judged(question: Question, answer: Answer) -> Finding:
    said, arrays = answer
    check = f"{question.number} {question.function}"
    wanted = f"{question.wanted}, with an error of at most {question.task.tolerance:g}"
    if fatal := said.get("fatal"):
        is_first = question.number.endswith(".1")
        return judge(check, wanted, fatal, "") if is_first else not_judged(check, wanted, fatal)
    if problem := said["failures"].get(question.function):
        return judge(check, wanted, problem, "")
    try:
        found = _measured(question, arrays)
    except UserError as error:
        return judge(check, wanted, str(error).removesuffix("."), "")
    problem = None if found.passes else _problem(question.task, found, arrays)
    return judge(check, wanted, problem, f"error {number(found.error, 2)}")


def _measured(question: Question, arrays: dict[str, np.ndarray]) -> Attempt:
    value = _finite(arrays[question.function])
    if question.task.token is None:
        return measure(value, GIVEN, task=question.task)
    return measure(value, GIVEN, task=question.task, query=_query(arrays))


def _query(arrays: dict[str, np.ndarray]) -> np.ndarray:
    return as_rows(_finite(arrays[QUERY]), rows=1, width=WIDTH, what="query of 1.3.2")[0]


def _finite(value: np.ndarray) -> np.ndarray:
    if value.ndim > 2:
        raise UserError(f"it returns an array with {value.ndim} axes: give one vector or matrix.")
    if not (np.abs(value) <= LARGEST).all():
        raise UserError("it returns numbers that are too large or not numbers at all.")
    return value


def _problem(task: Exercise, found: Attempt, arrays: dict[str, np.ndarray]) -> str:
    """Say how far off it is and why."""
    if found.breaks_length:
        length = float(np.linalg.norm(found.value))
        return f"the key must have length 1, it has {number(length)}"
    row = int(np.abs((found.weights - task.target) @ GIVEN.values).max(axis=1).argmax())
    weights, target = found.weights[row], task.target[row]
    which = f" in row {row}" if len(task.target) > 1 else ""
    said = f"error {number(found.error, 2)}{which}, where the weights are {vector(weights, 2)}"
    if task.token is not None:
        return said + _limit(task, _query(arrays))
    cause = why(
        diagnose(GIVEN, found.value[row], target=target), weights, target=target, mends=False
    )
    return f"{said}. {cause}".removesuffix(".")


def _limit(task: Exercise, query: np.ndarray) -> str:
    """Say that no key would do, where the query is to blame."""
    assert task.token is not None
    best = repair_key(GIVEN, query, token=task.token, target=task.target[0], unit=task.unit)
    if best.attained:
        return f" instead of {vector(task.target[0], 2)}"
    kind = "key of length 1" if task.unit else "key"
    longer = ": make that query longer" if task.unit else ""
    return f"; with your query of 1.3.2, no {kind} has an error below {best.best_error:.2g}{longer}"
