"""Proofs that no query reaches given weights, which anyone can check with a calculator.

A certificate is one number c_i a key with Σ c_i = 0 and Σ c_i k_i = 0. Since a log weight is k_i·q
plus a constant, Σ c_i log a_i = 0 for the weights a of *every* query q. Weights p are then out of
reach, even in the limit, if the same sum cannot vanish for them:

- c is zero outside the support of p and Σ c_i log p_i ≠ 0; or
- c is ≥ 0 outside the support and not zero there: log 0 = −∞ would have to be balanced by finite
  numbers. It says that a mean of other keys lies in the affine hull of the support's keys.

The numbers are checked to ``TOLERANCE`` of their size: keys are taken as known to nine digits.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnlab.geometry.faces import cutoff, expose, rounding, smallest_solution, spread
from attnlab.geometry.shapes import Keys, Vector, Weights, numbers_of

TOLERANCE, LOG_TOLERANCE = 1e-8, 1e-11
AFFINE = 1e-9
"""A misfit of the logs, as a share of them, that counts as none."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Numbers c with Σ c_i = 0 and Σ c_i k_i = 0 that the wanted weights contradict."""

    dependency: Float[np.ndarray, "S"]
    reason: str

    @property
    def most_weight(self) -> float | None:
        """What the weight on the one token with a negative number never exceeds; None if not one.

        For the target "select i" that token is i. With k_i = Σ λ_j k_j, log a_i = Σ λ_j log a_j is
        largest for a_j = λ_j (1 − a_i): then a_i = 1 / (1 + e^H), where H is the entropy of λ.
        """
        (inside,) = np.nonzero(self.dependency < 0)
        shares = self.dependency[self.dependency > 0]
        if len(inside) != 1 or not np.isclose(shares.sum(), 1):
            return None
        return float(1 / (1 + np.exp(-(shares * np.log(shares)).sum())))

    def log_sum(self, target: Weights) -> float:
        """Give Σ c_i log p_i, which is 0 for the weights of any query; −∞ if p_i = 0 counts."""
        counts = self.dependency != 0
        with np.errstate(divide="ignore"):
            return float(self.dependency[counts] @ np.log(target[counts]))


def no_face(keys: Keys, target: Weights) -> Certificate | None:
    """Prove that no direction puts just the target's support first; None if one does."""
    face = target > 0
    found = expose(keys, face)
    if found.exists:
        return None
    meeting = found.combination @ keys[~face]
    dependency = np.zeros(len(keys))
    dependency[~face] = found.combination
    dependency[face] = -_affine_coordinates(keys[face], meeting, cutoff=cutoff(keys))
    if face.sum() == 1:
        reason = f"key {int(face.argmax())} is a mean of other keys"
    else:
        reason = f"a mean of other keys lies in the affine hull of keys {numbers_of(face)}"
    return Certificate(dependency, reason)


def not_affine(keys: Keys, target: Weights) -> Certificate | None:
    """Prove that the target's logs are no affine function of its support's keys; None if they are.

    What is left of the logs after the best fit is at right angles to every affine function.
    """
    face = target > 0
    query = shortest_query(keys, target)
    logs = np.log(target[face])
    left = logs - logs.mean() - (keys[face] - keys[face].mean(axis=0)) @ query
    most = float(np.abs(left).max())
    slack = AFFINE * max(1.0, float(np.abs(logs).max()))
    if most <= max(slack, rounding(keys) * float(np.linalg.norm(query))):
        return None
    dependency = np.zeros(len(keys))
    dependency[face] = left / most
    return Certificate(
        dependency,
        f"log weights that are affine in keys {numbers_of(face)} cannot have these values",
    )


def shortest_query(keys: Keys, target: Weights) -> Vector:
    """Give the shortest query whose scores on the support come nearest to the target's logs."""
    face = target > 0
    centred = keys[face] - keys[face].mean(axis=0)
    logs = np.log(target[face])
    return smallest_solution(centred, logs - logs.mean(), cutoff=cutoff(keys))


def objections(certificate: Certificate, keys: Keys, target: Weights) -> list[str]:
    """List what is wrong with a certificate; none if it proves that the target is out of reach."""
    c, face = certificate.dependency, target > 0
    size = float(np.abs(c).sum())
    found = []
    if not np.isfinite(size) or size == 0:
        return ["the numbers are all zero or not finite"]
    if abs(c.sum()) > TOLERANCE * size:
        found.append(f"the numbers sum to {c.sum():.3g}, not to 0")
    apart = np.linalg.norm(c @ (keys - keys.mean(axis=0)))
    if apart > size * max(TOLERANCE * spread(keys), cutoff(keys)):
        found.append(f"the combination of the keys has length {apart:.3g}, not 0")
    if (c[~face] < 0).any():
        found.append("a number outside the support is negative")
    logs = np.log(target[face])
    slack = LOG_TOLERANCE * size * max(1.0, float(np.abs(logs).max()))
    if not (c[~face] > TOLERANCE * size).any() and abs(c[face] @ logs) <= slack:
        found.append("the wanted weights satisfy the equation, so nothing is contradicted")
    return found


def _affine_coordinates(
    points: Float[np.ndarray, "N D"], inside: Vector, *, cutoff: float
) -> Float[np.ndarray, "N"]:
    """Write a point of the affine hull as shares of the points that sum to 1."""
    centre = points.mean(axis=0)
    away = smallest_solution((points - centre).T, inside - centre, cutoff=cutoff)
    coordinates: np.ndarray = 1 / len(points) + away - away.mean()
    return coordinates
