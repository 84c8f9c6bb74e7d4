"""The error of S·q as S grows; it may rise if the direction is slightly off.

With q = k₀ + k₁ the two keys score almost alike. A small S leaves mass on the others, a large one
multiplies the small difference until one key takes all. Between lies the best scale.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq, minimize_scalar

from attnlab.errors import UserError
from attnlab.geometry.argmax import argmax_attention
from attnlab.geometry.expressions import names_of, split_scale, vector_of
from attnlab.geometry.instance import Instance, output_error
from attnlab.geometry.shapes import Vector, Weights

POINTS_A_DECADE = 100


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The output's largest error along a ray of queries."""

    scales: Float[np.ndarray, "N"] = field(repr=False)
    errors: Float[np.ndarray, "N"] = field(repr=False)
    best_scale: float
    best_error: float
    tolerance: float
    inside: tuple[tuple[float, float], ...]
    """Where the error is within the tolerance, between the smallest and the largest scale."""
    end: tuple[int, ...]
    """The tokens that share the weight as S grows without end."""
    end_error: float

    @property
    def is_monotone(self) -> bool:
        """Whether a larger scale is never worse, as far as the curve was drawn."""
        return bool((np.diff(self.errors) <= 1e-12).all())


@dataclass(frozen=True, eq=False)
class Ray:
    """The multiples of an answer: S·direction, where the answer itself is at ``scale``."""

    direction: str
    scale: float
    length: float
    """Of the direction, so that S·length is the length of the query."""
    curve: ErrorCurve


def follow_multiples(
    text: str, instance: Instance, *, target: Weights, tolerance: float
) -> Ray | None:
    """Follow the multiples of an answer; the zero query has none."""
    names = names_of(instance)
    scale, rest = split_scale(text, names)
    direction = vector_of(rest, names, width=instance.keys.shape[1], what="answer")
    if not direction.any():
        return None
    curve = error_curve(instance, direction, target=target, tolerance=tolerance)
    return Ray(rest, scale, float(np.linalg.norm(direction)), curve)


def error_curve(
    instance: Instance,
    direction: Vector,
    *,
    target: Weights,
    tolerance: float = 0.05,
    decades: tuple[float, float] = (-2, 4),
) -> ErrorCurve:
    """Follow the output's error along S·direction for S from 10^first to 10^last."""
    if not decades[0] < decades[1]:
        raise UserError(f"scales from 10^{decades[0]:g} to 10^{decades[1]:g} are no range.")
    n_points = round((decades[1] - decades[0]) * POINTS_A_DECADE) + 1
    exponents = np.linspace(*decades, n_points)

    def error(exponent: float) -> float:
        return output_error(instance, 10**exponent * direction, target=target)

    errors = np.array([error(x) for x in exponents])
    best = _lowest(error, exponents, errors)
    end = argmax_attention(instance, direction)
    return ErrorCurve(
        10**exponents,
        errors,
        10**best,
        error(best),
        tolerance,
        _inside(error, exponents, errors=errors, tolerance=tolerance),
        end.winners,
        float(np.abs(end.output - target @ instance.values).max()),
    )


def _lowest(
    error: Callable[[float], float],
    exponents: Float[np.ndarray, "N"],
    errors: Float[np.ndarray, "N"],
) -> float:
    """Refine the lowest point of the grid between its neighbours."""
    i = int(errors.argmin())
    low, high = exponents[max(i - 1, 0)], exponents[min(i + 1, len(errors) - 1)]
    found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return float(found.x) if found.fun < errors[i] else float(exponents[i])


def _inside(
    error: Callable[[float], float],
    exponents: Float[np.ndarray, "N"],
    *,
    errors: Float[np.ndarray, "N"],
    tolerance: float,
) -> tuple[tuple[float, float], ...]:
    """Find the ends of the stretches where the error is small enough."""
    small = np.concatenate([[False], errors <= tolerance, [False]])
    starts, stops = np.flatnonzero(small[1:] & ~small[:-1]), np.flatnonzero(~small[1:] & small[:-1])

    def crossing(i: int) -> float:
        """Between grid points i − 1 and i; the curve's own end if there is none."""
        if i in (0, len(exponents)):
            return float(exponents[min(i, len(exponents) - 1)])
        return float(brentq(lambda x: error(x) - tolerance, exponents[i - 1], exponents[i]))

    return tuple(
        (10 ** crossing(int(start)), 10 ** crossing(int(stop)))
        for start, stop in zip(starts, stops, strict=True)
    )
