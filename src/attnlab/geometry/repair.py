"""The change of one key with which an unchanged query comes nearest to a target (*attention*).

The others' scores stay, so the output is w·v_j + (1 − w)·(what the others give), where w is the
weight on token j alone: the error is a convex, piecewise linear function of w, and the weights with
the least error are an interval, mostly a point. Of these the score that is nearest to the old one
moves the key least: along the query; or, for a key of unit length, on the sphere in the plane of
key and query.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp

from attnlab.errors import UserError
from attnlab.geometry.instance import Instance, output_of
from attnlab.geometry.shapes import Output, Vector, Weights
from attnlab.geometry.targets import token_index

NEAREST_WEIGHT = 1e-9
"""A weight of 0 or 1 has no finite key: this near is near enough."""
ROUNDING, LEVEL = 1e-14, 1e-6
"""Errors that differ by less are equal; over more weight than this, the error is level."""


@dataclass(frozen=True, eq=False)
class Repair:
    """A new key for one token."""

    key: Vector
    moved: float
    """Its distance from the old key."""
    weight: float
    """The weight that the token gets."""
    error: float
    """The output's largest error with it."""
    attained: bool
    """Whether that is within the tolerance; if not, no allowed key is."""
    best_error: float
    """The smallest error that any allowed key has, if only in the limit."""
    best_weight: float


@dataclass(frozen=True, eq=False)
class _Line:
    """The output's difference from the wanted one, slope · w + offset, for a weight w."""

    slope: Output
    offset: Output

    def error(self, weight: float) -> float:
        return float(np.abs(self.slope * weight + self.offset).max())

    def allowed(self, tolerance: float) -> tuple[float, float]:
        """Give the interval of weights with a small enough error; empty if its ends are crossed."""
        steep = self.slope != 0
        if (np.abs(self.offset[~steep]) > tolerance).any():
            return 1.0, 0.0
        ends = (np.array([[-tolerance], [tolerance]]) - self.offset[steep]) / self.slope[steep]
        return float(ends.min(axis=0).max(initial=0.0)), float(ends.max(axis=0).min(initial=1.0))

    def best(self, low: float, high: float) -> float:
        """Give the weight with the least error: an end, or where two coordinates are level."""
        slopes, offsets = np.append(self.slope, -self.slope), np.append(self.offset, -self.offset)
        rise, drop = slopes[:, None] - slopes, offsets - offsets[:, None]
        crossings = drop[rise != 0] / rise[rise != 0]
        inside = crossings[(crossings > low) & (crossings < high)]
        return float(min([low, high, *inside], key=self.error))


def repair_key(
    instance: Instance,
    query: Vector,
    *,
    token: int,
    target: Weights,
    tolerance: float = 0.05,
    unit: bool = False,
) -> Repair:
    """Find the key whose output is nearest to the wanted mean; of several, the one moved least."""
    token = token_index(instance.n_tokens, token)
    if not tolerance > 0:
        raise UserError(f"a tolerance of {tolerance:g} is not possible: it must be above 0.")
    key = _unit(instance.keys[token], query) if unit else instance.keys[token]
    mass, line = _without(instance, query, token=token, target=target)
    reach = _reach(query, mass=mass, fixed=float(key @ query), unit=unit)
    best = line.best(*reach)
    low, high = line.allowed(line.error(best) + ROUNDING)
    ends = (max(low, reach[0]), min(high, reach[1])) if high - low > LEVEL else (best, best)
    low, high = (min(max(end, NEAREST_WEIGHT), 1 - NEAREST_WEIGHT) for end in ends)
    score = _clamped(float(key @ query), low, high, mass=mass)
    key = _turned(key, query, score) if unit else _moved(key, query, score)
    moved = float(np.linalg.norm(key - instance.keys[token]))
    weight = float(expit(score - mass))
    attained = line.error(weight) <= tolerance * (1 + NEAREST_WEIGHT)
    return Repair(key, moved, weight, line.error(weight), attained, line.error(best), best)


def _without(
    instance: Instance, query: Vector, *, token: int, target: Weights
) -> tuple[float, _Line]:
    """Give the log mass of the other tokens, and how the error depends on the token's weight."""
    own, wanted = instance.values[token], target @ instance.values
    if instance.n_tokens == 1:
        return -math.inf, _Line(np.zeros_like(own), own - wanted)
    keys, values = (np.delete(x, token, axis=0) for x in (instance.keys, instance.values))
    rest = output_of(Instance(keys, values), query)
    return float(logsumexp(keys @ query)), _Line(own - rest, rest - wanted)


def with_key(instance: Instance, token: int, key: Vector) -> Instance:
    """Replace one key."""
    keys = instance.keys.copy()
    keys[token] = key
    return Instance(keys, instance.values)


def _reach(query: Vector, *, mass: float, fixed: float, unit: bool) -> tuple[float, float]:
    """Give the least and the largest weight that an allowed key can have."""
    length = float(np.linalg.norm(query))
    if length == 0 or mass == -math.inf:  # no key changes anything
        return float(expit(fixed - mass)), float(expit(fixed - mass))
    return (float(expit(-length - mass)), float(expit(length - mass))) if unit else (0.0, 1.0)


def _clamped(score: float, low: float, high: float, *, mass: float) -> float:
    """Give the nearest score with which a key gets a weight from ``low`` to ``high``."""
    if mass == -math.inf:
        return score
    return min(max(score, float(logit(low)) + mass), float(logit(high)) + mass)


def _moved(key: Vector, query: Vector, score: float) -> Vector:
    square = float(query @ query)
    step = (score - float(key @ query)) / square if square else 0.0
    return key + step * query


def _turned(key: Vector, query: Vector, score: float) -> Vector:
    """Turn a key of unit length within the plane of key and query."""
    length = float(np.linalg.norm(query))
    if length == 0:
        return key
    ahead = query / length
    cosine = min(max(score / length, -1.0), 1.0)
    return cosine * ahead + math.sqrt(1 - cosine * cosine) * _sideways(key, ahead)


def _sideways(key: Vector, ahead: Vector) -> Vector:
    """Give the unit vector across ``ahead`` on the key's side; any, if the key lies along it."""
    for candidate in (key, *np.eye(len(key))):
        across = candidate - (candidate @ ahead) * ahead
        length = float(np.linalg.norm(across))
        if length > NEAREST_WEIGHT:
            sideways: np.ndarray = across / length
            return sideways
    raise UserError(
        "a key of one number and of unit length is 1 or -1: there is nothing to turn. Try both."
    )


def _unit(key: Vector, query: Vector) -> Vector:
    """Give the nearest vector of unit length; from zero all are equally near: one across."""
    length = float(np.linalg.norm(key))
    if length:
        return key / length
    return _sideways(key, query / (float(np.linalg.norm(query)) or 1.0))
