"""Is a proposed answer right here, and would it be right elsewhere?

An answer is tried on the given keys and values and on random ones of the same shape, which keep
what is assumed of the given: orthonormal keys stay orthonormal, keys of unit length stay of unit
length; otherwise two families are drawn, keys of unit length and keys of any length. Random
instances on which nothing can be right (the target is out of every query's reach) do not count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnlab.errors import UserError
from attnlab.geometry.diagnosis import Diagnosis, diagnose
from attnlab.geometry.expressions import Value, as_rows, evaluate, names_of, vector_of
from attnlab.geometry.instance import Instance, shows_weights, weights_of
from attnlab.geometry.repair import repair_key, with_key
from attnlab.geometry.scale import Ray, follow_multiples
from attnlab.geometry.shapes import Vector
from attnlab.geometry.weights import solve_weights

UNIT_TOLERANCE = 1e-6
FAMILIES = {
    "unit": "keys of unit length",
    "any": "keys of any length",
    "orthonormal": "orthonormal keys",
}


@dataclass(frozen=True, eq=False)
class Exercise:
    """What an answer is to achieve: a query, a row of queries, or a new key for one token."""

    target: Float[np.ndarray, "R S"]
    """The wanted weights of each query."""
    token: int | None = None
    """Whose key the answer replaces; None if the answer is the query."""
    query: str | None = None
    """The unchanged query of such a task, as an expression in the old keys."""
    unit: bool = False
    """Whether the new key must have length 1."""
    tolerance: float = 0.05
    """The error of the output up to which an answer is right; the assignment's by default."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """An answer on one instance."""

    value: Float[np.ndarray, "R D"]
    weights: Float[np.ndarray, "R S"]
    error: float
    """Of the outputs, in the worst coordinate."""
    weight_error: float
    breaks_length: bool
    """Whether the key should have length 1 and does not."""
    passes: bool


@dataclass(frozen=True, eq=False)
class Trials:
    """An answer on random instances of one family."""

    family: str
    tried: int
    passed: int
    worst_error: float
    counterexample: Instance | None
    """The first instance on which it fails though another answer is right."""
    counterexample_error: float | None


@dataclass(frozen=True, eq=False)
class AnswerReport:
    """What an answer is worth."""

    text: str
    here: Attempt
    elsewhere: tuple[Trials, ...]
    diagnosis: Diagnosis | None
    """Where the error comes from, if the answer is one query."""
    ray: Ray | None
    """How the error changes along the query's multiples."""

    @property
    def is_general(self) -> bool | None:
        """Whether it was right on every random instance; None if some family has no right one."""
        if any(trials.passed < trials.tried for trials in self.elsewhere):
            return False
        return True if all(trials.tried for trials in self.elsewhere) else None


def check_answer(
    text: str, instance: Instance, *, task: Exercise, draws: int = 200
) -> AnswerReport:
    """Try an answer on an instance, and on random ones of the same shape: ``draws`` per family."""
    if task.target.shape[1] != instance.n_tokens:
        raise UserError(
            f"the task is about {task.target.shape[1]} tokens, the instance has"
            f" {instance.n_tokens}: they must be the same."
        )
    here = attempt(text, instance, task=task)
    drawn = {
        family: random_instances(family, instance, draws=draws) for family in families_of(instance)
    }
    elsewhere = tuple(_trials(text, *one, task=task) for one in drawn.items())
    diagnosis = ray = None
    if task.token is None and len(task.target) == 1:
        (target,), (query,) = task.target, here.value
        diagnosis = diagnose(instance, query, target=target)
        ray = follow_multiples(text, instance, target=target, tolerance=task.tolerance)
    return AnswerReport(text, here, elsewhere, diagnosis, ray)


def attempt(text: str, instance: Instance, *, task: Exercise) -> Attempt:
    """Work out an answer on one instance and measure what attention then gives."""
    names = names_of(instance)
    if task.token is None:
        return measure(evaluate(text, names), instance, task=task)
    width = instance.keys.shape[1]
    query = vector_of(task.query or "0", names, width=width, what="query")
    return measure(evaluate(text, {**names, "q": query}), instance, task=task, query=query)


def measure(
    answer: Value, instance: Instance, *, task: Exercise, query: Vector | None = None
) -> Attempt:
    """Measure what attention gives with an answer; a new key is met by ``query``."""
    width = instance.keys.shape[1]
    if task.token is None:
        queries = value = as_rows(answer, rows=len(task.target), width=width)
        met = instance
    else:
        assert query is not None
        queries, value = query[None], as_rows(answer, rows=1, width=width)
        met = with_key(instance, task.token, value[0])
    weights = np.stack([weights_of(met.keys, query) for query in queries])
    error = float(np.abs((weights - task.target) @ met.values).max())
    weight_error = float(np.abs(weights - task.target).max())
    off_length = task.unit and abs(float(np.linalg.norm(value)) - 1) > UNIT_TOLERANCE
    passes = error <= task.tolerance and not off_length
    return Attempt(value, weights, error, weight_error, off_length, passes)


def families_of(instance: Instance) -> tuple[str, ...]:
    """Name the families of random keys that keep what is assumed of the given ones."""
    gram = instance.keys @ instance.keys.T
    if np.abs(gram - np.eye(instance.n_tokens)).max() <= UNIT_TOLERANCE:
        return ("orthonormal",)
    is_unit = np.abs(np.diag(gram) - 1).max() <= UNIT_TOLERANCE
    return ("unit",) if is_unit else ("unit", "any")


def random_instances(
    family: str, like: Instance, *, draws: int, seed: int = 0
) -> Iterator[Instance]:
    """Draw keys and values of the same shapes; values that show the weights still do."""
    for draw in range(draws):
        generator = np.random.default_rng([seed, list(FAMILIES).index(family), draw])
        keys = generator.normal(size=like.keys.shape)
        if family == "unit":
            keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        elif family == "orthonormal":
            keys = np.linalg.qr(keys.T)[0].T
        values = generator.normal(size=like.values.shape)
        yield Instance(keys, like.values if shows_weights(like) else values)


def _trials(text: str, family: str, instances: Iterable[Instance], *, task: Exercise) -> Trials:
    tried = passed = 0
    worst, first, first_error = 0.0, None, None
    for instance in instances:
        if not _can_be_right(instance, task):
            continue
        made = attempt(text, instance, task=task)
        tried, passed = tried + 1, passed + made.passes
        worst = max(worst, made.error)
        if first is None and not made.passes:
            first, first_error = instance, made.error
    return Trials(family, tried, passed, worst, first, first_error)


def _can_be_right(instance: Instance, task: Exercise) -> bool:
    """Whether some answer is right on an instance."""
    if task.token is None:
        return all(solve_weights(instance.keys, row).verdict != "never" for row in task.target)
    width = instance.keys.shape[1]
    query = vector_of(task.query or "0", names_of(instance), width=width, what="query")
    (target,), unit = task.target, task.unit
    return repair_key(
        instance, query, token=task.token, target=target, tolerance=task.tolerance, unit=unit
    ).attained
