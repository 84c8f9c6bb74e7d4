"""Can a query produce these weights: exactly, in the limit, or never?

softmax(K q) is never zero, so wanted weights p with zeros are met at best in the limit. The support
of p must be exactly the keys of an exposed face (all keys count, with u = 0), and on that face
log p must be an affine function of the keys: log p_i = k_i·q₀ − constant. Then q₀ + t·u does it as
t grows; with full support q₀ does it at once. If one of the two fails there is a certificate.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from attnlab.errors import UserError
from attnlab.geometry.certificates import (
    Certificate,
    no_face,
    not_affine,
    objections,
    shortest_query,
)
from attnlab.geometry.faces import expose
from attnlab.geometry.instance import Instance, output_error, output_of, weights_of
from attnlab.geometry.shapes import Keys, Output, Vector, Weights

Verdict = Literal["exact", "limit", "never"]


@dataclass(frozen=True, eq=False)
class QueryPath:
    """The queries q₀ + t·u, along which the weights tend to the target as t grows.

    The keys outside the support have together Σ exp(log_odds − t·gaps) of the mass of those inside.
    """

    start: Vector
    """q₀: the shortest query that has the wanted ratios inside the support."""
    direction: Vector
    """u: of unit length with the largest margin; zero if q₀ is exact."""
    gaps: Float[np.ndarray, "N"]
    """How much lower than the support each other key scores along u."""
    log_odds: Float[np.ndarray, "N"]
    """The log weight of each other key at q₀, if the support's mass is 1."""

    @property
    def margin(self) -> float:
        """The least gap, which sets the rate; infinite if there are no other keys."""
        return float(self.gaps.min(initial=math.inf))

    def query(self, scale: float) -> Vector:
        """Give the query at a scale t."""
        return self.start + scale * self.direction

    def error(self, scale: float) -> float:
        """Give the mass outside the support: no weight is further off than this."""
        odds = float(np.exp(self.log_odds - scale * self.gaps).sum())
        return odds / (1 + odds) if math.isfinite(odds) else 1.0

    def bound(self, scale: float) -> float:
        """Bound that mass in closed form: (other keys) · (largest odds) · exp(−t·margin)."""
        return (
            math.exp(min(self._log_bound() - scale * self.margin, 0.0)) if len(self.gaps) else 0.0
        )

    def scale_for(self, error: float) -> float:
        """Give a scale at which the bound, and so every weight's error, is at most ``error``."""
        if not 0 < error < 1:
            raise UserError(
                f"an error of {error:g} is not possible: between 0 and 1, both excluded."
            )
        if not len(self.gaps):
            return 0.0
        return max(0.0, (self._log_bound() - math.log(error)) / self.margin)

    def _log_bound(self) -> float:
        return math.log(len(self.gaps)) + float(self.log_odds.max())


@dataclass(frozen=True, eq=False)
class WeightSolution:
    """What was found about one target: a path, or a proof that there is none."""

    target: Weights
    verdict: Verdict
    path: QueryPath | None
    certificate: Certificate | None


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


def solve_weights(keys: Keys, target: Weights) -> WeightSolution:
    """Decide whether some query gives the weights ``target``, and say how or why not."""
    everything = bool((target > 0).all())
    certificate = (None if everything else no_face(keys, target)) or not_affine(keys, target)
    if certificate is not None:
        wrong = objections(certificate, keys, target)
        assert not wrong, f"{certificate.reason}: this proof does not hold, {'; '.join(wrong)}"
        return WeightSolution(target, "never", None, certificate)
    return WeightSolution(target, "exact" if everything else "limit", _path(keys, target), None)


def solve_identity(keys: Keys) -> tuple[WeightSolution, ...]:
    """Decide for every token whether a query selects it: the rows of the identity."""
    return tuple(solve_weights(keys, row) for row in np.eye(len(keys)))


def worst(solutions: tuple[WeightSolution, ...]) -> Verdict:
    """Give the verdict on several rows at once: that of the hardest."""
    order: tuple[Verdict, ...] = ("exact", "limit", "never")
    return max((solution.verdict for solution in solutions), key=order.index)


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


def _path(keys: Keys, target: Weights) -> QueryPath:
    start = shortest_query(keys, target)
    face = target > 0
    if face.all():
        return QueryPath(start, np.zeros(keys.shape[1]), np.zeros(0), np.zeros(0))
    direction = expose(keys, face).direction
    inside = keys[face].mean(axis=0)
    constant = float(inside @ start - np.log(target[face]).mean())
    others = keys[~face]
    return QueryPath(start, direction, (inside - others) @ direction, others @ start - constant)
