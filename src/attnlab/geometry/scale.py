"""The error of S·q as S grows; it may rise if the direction is slightly off.

With q = k₀ + k₁ the two keys score almost alike. A small S leaves mass on the others, a large one
multiplies the small difference until one key takes all. Between lies the best scale.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq, minimize_scalar

from attnlab.errors import UserError
from attnlab.geometry.argmax import HardAttention, argmax_attention
from attnlab.geometry.expressions import (
    as_factor,
    is_constant,
    names_of,
    split_scale,
    vector_of,
)
from attnlab.geometry.instance import Instance, output_error
from attnlab.geometry.shapes import Vector, Weights

POINTS_A_DECADE = 100
EVEN, SHARP = 1e-3, 40.0
"""Scores that differ by less weigh alike; by more, the lower one gets nothing."""
DRAWN = (0.05, 1e3)
"""Lengths of queries that figures show."""


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The output's largest error along a ray of queries."""

    scales: Float[np.ndarray, "N"] = field(repr=False)
    errors: Float[np.ndarray, "N"] = field(repr=False)
    best_scale: float
    best_error: float
    tolerance: float
    inside: tuple[tuple[float, float], ...]
    """Where the error is within the tolerance: from 0 if it is as S → 0, to ∞ if as S grows."""
    start_error: float
    """As S → 0, where all weights become equal."""
    end: tuple[int, ...]
    """The tokens that share the weight as S grows without end."""
    end_error: float
    n_tokens: int

    @property
    def is_monotone(self) -> bool:
        """Whether a larger scale is never worse, as far as the curve was drawn."""
        return bool((np.diff(self.errors) <= 1e-12).all())

    @property
    def is_constant(self) -> bool:
        """Whether the scale makes no difference, since all keys score alike."""
        return len(self.end) == self.n_tokens


@dataclass(frozen=True, eq=False)
class Ray:
    """The multiples of an answer: S·direction, where the answer itself is at ``scale``."""

    direction: str
    scale: float
    length: float
    """Of the direction, so that S·length is the length of the query."""
    curve: ErrorCurve

    @property
    def name(self) -> str:
        """The multiples in symbols, such as S·(k0+k1)."""
        return f"S·{as_factor(self.direction)}"


def follow_multiples(
    text: str, instance: Instance, *, target: Weights, tolerance: float
) -> Ray | None:
    """Follow the multiples of an answer; the zero query has none, and numbers mean themselves."""
    if is_constant(text):
        return None
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
    decades: tuple[float, float] | None = None,
) -> ErrorCurve:
    """Follow the output's error along S·direction for S from 10^first to 10^last.

    By default from where all weights are nearly equal to where the highest score has taken all.
    """
    end = argmax_attention(instance, direction)
    decades = decades or _telling_decades(end, float(np.linalg.norm(direction)))
    if not decades[0] < decades[1]:
        raise UserError(f"scales from 10^{decades[0]:g} to 10^{decades[1]:g} are no range.")
    n_points = round((decades[1] - decades[0]) * POINTS_A_DECADE) + 1
    exponents = np.linspace(*decades, n_points)

    def error(exponent: float) -> float:
        return output_error(instance, 10**exponent * direction, target=target)

    errors = np.array([error(x) for x in exponents])
    best = _lowest(error, exponents, errors)
    return ErrorCurve(
        10**exponents,
        errors,
        10**best,
        error(best),
        tolerance,
        _inside(error, exponents, errors=errors, tolerance=tolerance),
        output_error(instance, 0 * direction, target=target),
        end.winners,
        float(np.abs(end.output - target @ instance.values).max()),
        instance.n_tokens,
    )


def _telling_decades(end: HardAttention, length: float) -> tuple[float, float]:
    """Give the decades of S in which anything happens, and those of queries that are drawn."""
    scales = [ends / length for ends in DRAWN]
    others = np.delete(end.scores, end.winners)
    if len(others):
        lead, spread = end.scores.max() - others.max(), np.ptp(end.scores)
        scales += [EVEN / float(spread), SHARP / float(lead)]
    return math.floor(math.log10(min(scales))), math.ceil(math.log10(max(scales)))


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
    """Find the ends of the stretches where the error is small enough; the outermost are 0 and ∞."""
    small = np.concatenate([[False], errors <= tolerance, [False]])
    starts, stops = np.flatnonzero(small[1:] & ~small[:-1]), np.flatnonzero(~small[1:] & small[:-1])

    def crossing(i: int) -> float:
        """Between grid points i − 1 and i; nothing more happens beyond the grid."""
        if i in (0, len(exponents)):
            return math.inf if i else -math.inf
        return float(brentq(lambda x: error(x) - tolerance, exponents[i - 1], exponents[i]))

    return tuple(
        (10 ** crossing(int(start)), 10 ** crossing(int(stop)))
        for start, stop in zip(starts, stops, strict=True)
    )
