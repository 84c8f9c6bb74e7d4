"""What a figure shows, as plain numbers; ``report/geometry/figures.py`` draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from attnlab.geometry.shapes import Weights


@dataclass(frozen=True, eq=False)
class Bars:
    """The weight of every token, by whose weights they are."""

    series: Mapping[str, Weights]


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines by name, each with its x and y."""

    x_label: str
    y_label: str
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]]
    log: Literal["", "y", "xy"] = ""
    """Which axes are logarithmic."""
    x_range: tuple[float, float] | None = None
    allowed: float | None = None
    """The height below which a line is good enough."""
    mark: tuple[float, float] | None = None
    """A point to point out."""


@dataclass(frozen=True, eq=False)
class Heat:
    """Who looks at whom: a row of weights for each token; rows that are not known are NaN."""

    title: str
    matrix: Float[np.ndarray, "T T"]
    names: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Space:
    """Keys or values as points, with their hull; drawn in up to three dimensions."""

    points: Float[np.ndarray, "S D"]
    what: Literal["keys", "values"] = "keys"
    directions: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Where queries point."""
    marks: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Further points, such as a wanted output."""
    chosen: Sequence[int] = ()
    """The points that the question is about."""


@dataclass(frozen=True, eq=False)
class NoisyKey:
    """Draws of one key in the plane of the means μ_a and μ_b."""

    draws: Float[np.ndarray, "N 2"]
    ignored: Bool[np.ndarray, "N"]


@dataclass(frozen=True, eq=False)
class Histogram:
    """The share of draws in each bin between two edges, by name."""

    x_label: str
    edges: Float[np.ndarray, "N"]
    shares: Mapping[str, np.ndarray]
    wanted: float


Panel = Bars | Curves | Heat | Space | NoisyKey | Histogram
