"""Can a query produce this output? It may be reachable even if its weights are not.

The limits of weights are those of softmax on exposed faces of the keys, so an output is approached
if and only if some such face F has a query on F whose output it is. That is decided with proof

- if the output is outside the values' hull (never: a direction separates it);
- for tokens outside the smallest face of that hull which holds the output: they may keep no weight;
- for every face on which the values are an affine function of the keys, as on all faces of keys in
  general position; it then needs the output inside the hull of the face's values;
- for a face whose plain mean of values it is;
- if only one choice of weights has it, as for values in general position: by these weights;
- if every mean with this output gives a key inside the others' hull more than it can have.

What is left is searched for numerically: then the verdict is "found" with its error or "undecided".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from attnlab.geometry.faces import (
    TOLERANCE,
    Separation,
    expose,
    separate,
    smallest_face_at_zero,
    spread,
)
from attnlab.geometry.instance import Instance, weights_of
from attnlab.geometry.moments import search_query, values_are_affine, weights_with_mean
from attnlab.geometry.shapes import Output, Tokens, Vector, Weights, numbers_of
from attnlab.geometry.weights import WeightSolution, solve_weights

MOST_TOKENS = 12
"""Among more tokens only the small faces and the largest are looked at: there are 2^tokens."""
FOUND = 1e-9
"""An error of a search, as a share of the values' spread, that counts as none."""
RUNNING_AWAY = 1e-6
"""A smaller weight says that a search is on its way to a smaller face, which has its own turn."""

CAP_SLACK = 1e-6
"""How much more than possible must be needed: beyond what a linear programme leaves open."""


@dataclass(frozen=True, eq=False)
class OutputSolution:
    """What was found about one output."""

    output: Output
    verdict: Literal["exact", "limit", "never", "found", "undecided"]
    """Exact, limit and never are proved; found is what a search found, with its error.

    Limit excludes exact where some token may keep no weight; else the reason says what is known.
    """
    reason: str
    weights: WeightSolution | None = None
    """The way there; or the proof about a single token that must have weight and cannot."""
    query: Vector | None = None
    """The best query that a search over all tokens found, if there was one."""
    error: float | None = None
    """The largest error that is left: of a search; 0 where a way is proved."""
    direction: Output | None = None
    """Along it no value scores lower than the output; tokens that score higher keep no weight."""
    tokens: tuple[int, ...] = ()
    """The tokens that may keep weight; none if the output is outside the values' hull."""


def solve_output(instance: Instance, output: Output) -> OutputSolution:
    """Decide whether some query gives an output: exactly, in the limit, never; or leave it open."""
    points = instance.values - output
    outside = _outside(points)
    if outside.exists:
        reason = f"the output lies outside the hull of the values, {outside.margin:.3g} away"
        return OutputSolution(output, "never", reason, direction=outside.direction)
    allowed, direction = smallest_face_at_zero(points)
    tokens = tuple(int(i) for i in np.flatnonzero(allowed))
    found = _by_faces(instance, output, allowed)
    return replace(found, direction=direction, tokens=tokens)


def _by_faces(instance: Instance, output: Output, allowed: Tokens) -> OutputSolution:
    """Go through the faces that may hold the weight; stop at the first that does with proof."""
    open_faces: list[np.ndarray] = []
    for face in _candidates(allowed):
        weights = _proved_weights(instance, output, face)
        if isinstance(weights, np.ndarray):
            found = _reached(instance, output, weights)
            return _or_sooner(instance, found) if _has_all(open_faces) else found
        if weights is None:
            open_faces.append(face)
    only = _only_weights(instance, output, allowed) if open_faces else None
    if only is not None:
        return only
    for face in open_faces:
        searched = _searched(instance, output, face)
        if searched is not None:
            return searched
    if open_faces or allowed.sum() > MOST_TOKENS:
        for token in range(instance.n_tokens):
            capped = _capped(instance, output, token)
            if capped is not None:
                return capped
        query, error = search_query(instance, output)
        reason = f"no proof either way; the best query found misses it by {error:.3g}"
        return OutputSolution(output, "undecided", reason, query=query, error=error)
    return _closed(instance, output, allowed)


def _candidates(allowed: Tokens) -> Iterator[Tokens]:
    """Give the sets of tokens that may hold all the weight: the largest, then small ones first."""
    tokens = np.flatnonzero(allowed)
    largest = len(tokens) - 1 if len(tokens) <= MOST_TOKENS else 2
    yield allowed
    for size in range(1, largest + 1):
        for chosen in combinations(tokens, size):
            face = np.zeros(len(allowed), dtype=bool)
            face[list(chosen)] = True
            yield face


def _proved_weights(
    instance: Instance, output: Output, face: Tokens
) -> Weights | Literal["none"] | None:
    """Give weights on just this face with the output; "none" if there are none, None if open."""
    part = Instance(instance.keys[face], instance.values[face])
    points = part.values - output
    if _outside(points).exists or not smallest_face_at_zero(points)[0].all():
        return "none"  # weights that are all positive cannot have this mean
    if not face.all() and not expose(instance.keys, face).exists:
        return "none"
    weights = np.zeros(instance.n_tokens)
    if np.abs(points.mean(axis=0)).max() <= TOLERANCE * spread(instance.values):
        weights[face] = 1 / face.sum()
    elif values_are_affine(part):
        weights[face] = weights_with_mean(part.values, output)
    else:
        return None
    return weights


def _reached(instance: Instance, output: Output, weights: Weights) -> OutputSolution:
    solution = solve_weights(instance.keys, weights)
    error = float(np.abs(weights @ instance.values - output).max())
    reason = (
        f"weights on tokens {numbers_of(weights > 0)} have this mean, and a query can produce them"
    )
    return OutputSolution(output, solution.verdict, reason, solution, error=error)


def _only_weights(instance: Instance, output: Output, allowed: Tokens) -> OutputSolution | None:
    """Decide by the weights, if no others have the output: values in general position."""
    values = instance.values[allowed]
    system = np.vstack([values.T - output[:, None], np.full(len(values), spread(values))])
    singular = np.linalg.svd(system, compute_uv=False)
    if len(values) > len(system) or singular.min() <= TOLERANCE * singular.max():
        return None
    shares = np.linalg.lstsq(system, np.append(np.zeros(len(output)), spread(values)))[0]
    weights = np.zeros(instance.n_tokens)
    weights[allowed] = shares / shares.sum()
    solution = solve_weights(instance.keys, weights)
    can = "a query" if solution.certificate is None else "no query"
    only = f"only one choice of weights on tokens {numbers_of(allowed)} has it as a mean"
    reason = f"{only}, and {can} can produce them"
    return OutputSolution(output, solution.verdict, reason, solution, error=0.0)


def _has_all(faces: Sequence[Tokens]) -> bool:
    return any(face.all() for face in faces)


def _or_sooner(instance: Instance, found: OutputSolution) -> OutputSolution:
    """Add to a proved limit whether a search found a finite query that gives the output already."""
    searched = _searched(instance, found.output, np.ones(instance.n_tokens, dtype=bool))
    if searched is None:
        return replace(found, reason=f"{found.reason}; whether a finite query gives it is open")
    reason = f"{found.reason}; a search found a finite query too, to within {searched.error:.1g}"
    return replace(found, reason=reason, query=searched.query, error=searched.error)


def _searched(instance: Instance, output: Output, face: Tokens) -> OutputSolution | None:
    """Search on one face; None if nothing was found, which proves nothing."""
    part = Instance(instance.keys[face], instance.values[face])
    query, error = search_query(part, output)
    weights = np.zeros(instance.n_tokens)
    weights[face] = weights_of(part.keys, query)
    if error > FOUND * spread(instance.values) or weights[face].min() < RUNNING_AWAY:
        return None
    solution = solve_weights(instance.keys, weights / weights.sum())
    found = f"a search found weights on tokens {numbers_of(face)} with this mean"
    reason = f"{found}, to within {error:.1g}"
    return OutputSolution(output, "found", reason, solution, query if face.all() else None, error)


def _closed(instance: Instance, output: Output, allowed: Tokens) -> OutputSolution:
    """Say why no face is left."""
    if allowed.sum() == 1:
        weights = solve_weights(instance.keys, allowed.astype(float))
        assert weights.certificate is not None
        reason = (
            f"only token {numbers_of(allowed)} may keep weight, but {weights.certificate.reason}"
        )
        return OutputSolution(output, "never", reason, weights)
    reason = f"no exposed face of the keys among tokens {numbers_of(allowed)} has it as a mean"
    return OutputSolution(output, "never", reason)


def _capped(instance: Instance, output: Output, token: int) -> OutputSolution | None:
    """Compare the weight that a token must have for the output with the most it can have."""
    weights = solve_weights(instance.keys, np.eye(instance.n_tokens)[token])
    if weights.certificate is None or weights.certificate.most_weight is None:
        return None
    least = linprog(
        np.eye(instance.n_tokens)[token],
        A_eq=np.vstack([instance.values.T, np.ones(instance.n_tokens)]),
        b_eq=np.append(output, 1.0),
    )
    most = weights.certificate.most_weight
    if least.status != 0 or least.fun <= most + CAP_SLACK:
        return None
    reason = (
        f"it needs a weight of {least.fun:.3g} on token {token}, which gets at most {most:.3g}:"
        f" {weights.certificate.reason}"
    )
    return OutputSolution(output, "never", reason, weights)


def _outside(points: Float[np.ndarray, "N E"]) -> Separation:
    return separate(points, size=float(np.linalg.norm(points, axis=1).max()))
