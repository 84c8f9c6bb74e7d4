"""Keys or values in two or three dimensions: their hull, query directions, single points."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.patheffects import withStroke
from scipy.spatial import ConvexHull, QhullError

from attnlab.geometry.panels import Space
from attnlab.report.figures import COLORS, INK
from attnlab.report.geometry.charts import legend_above

MOST_DIMENSIONS = 3
MARKERS = "*X"
CHOSEN = COLORS[5]


def space(figure: Figure, place: SubplotSpec, panel: Space) -> None:
    """Draw points and their hull, where queries point, and what else is marked."""
    points = _at_least_two(panel.points)
    is_solid = points.shape[1] == 3
    axis: Any = figure.add_subplot(place, projection="3d" if is_solid else None)
    depth = {"depthshade": False} if is_solid else {}
    _hull(axis, points)
    colours = [CHOSEN if i in panel.chosen else INK for i in range(len(points))]
    axis.scatter(*points.T, c=colours, s=28, zorder=3, **depth)
    reach = float(np.linalg.norm(points, axis=1).max()) or 1.0
    _names(axis, points, reach, panel.what[0])
    tips = [
        _arrow(axis, _at_least_two(direction), i, reach, name)
        for i, (name, direction) in enumerate(panel.directions.items())
    ]
    marks = {name: _at_least_two(mark) for name, mark in panel.marks.items()}
    for i, (name, mark) in enumerate(marks.items()):
        look = {"marker": MARKERS[i % 2], "color": COLORS[2 + i], "s": 70, "zorder": 4, **depth}
        axis.scatter(*mark[:, None], label=name, **look)
    _frame(axis, np.vstack([points, *tips, *marks.values()]), reach)
    if is_solid:
        elevation, azimuth = _best_view(np.vstack([points, 0 * points[:1], *tips[:1]]))
        axis.view_init(elev=elevation, azim=azimuth)
    title = f"{panel.what} with their hull{', and queries' if panel.directions else ''}"
    legend_above(axis, title.capitalize())


def _at_least_two(numbers: np.ndarray) -> np.ndarray:
    """Give a vector, or every row, a second number if it has one alone."""
    if numbers.shape[-1] > 1:
        return numbers
    padded: np.ndarray = np.concatenate([numbers, np.zeros_like(numbers)], axis=-1)
    return padded


def _hull(axis: Any, keys: np.ndarray) -> None:
    """Draw the hull; keys that lie flat have none that could be drawn."""
    try:
        hull = ConvexHull(keys)
    except (QhullError, ValueError):
        return
    if keys.shape[1] == 2:
        around = [*hull.vertices, hull.vertices[0]]
        axis.fill(*keys[hull.vertices].T, color=COLORS[0], alpha=0.1)
        axis.plot(*keys[around].T, color=COLORS[0], linewidth=0.8, alpha=0.7)
        return
    axis.plot_trisurf(
        *keys.T, triangles=hull.simplices, color=COLORS[0], alpha=0.12, edgecolor=COLORS[0],
        linewidth=0.6,
    )  # fmt: skip


def _names(axis: Any, keys: np.ndarray, reach: float, letter: str) -> None:
    """Write each name beside its point, away from the middle; equal points share one place."""
    middle, halo = keys.mean(axis=0), [withStroke(linewidth=2.5, foreground="white")]
    together: dict[tuple[float, ...], list[str]] = {}
    for i, key in enumerate(keys):
        together.setdefault(tuple(key), []).append(f"{letter}{i}")
    for key, names in together.items():
        away = np.array(key) - middle
        away = away / (float(np.linalg.norm(away)) or 1.0)
        spot = np.array(key) + (0.13 if len(key) == 2 else 0.2) * reach * away
        look = {"ha": "center", "va": "center", "zorder": 5}
        axis.text(*spot, ", ".join(names), path_effects=halo, **look)


def _arrow(axis: Any, direction: np.ndarray, number: int, reach: float, label: str) -> np.ndarray:
    """Draw from the origin where a query points, not how far; give the arrow's tip.

    Later arrows are thinner, so that of two that point alike both are seen.
    """
    length = float(np.linalg.norm(direction))
    if length == 0:
        return direction
    tip: np.ndarray = direction / length * 1.2 * reach
    look: dict[str, Any] = {"color": COLORS[number], "label": label}
    if len(tip) == 3:
        look |= {"arrow_length_ratio": 0.12, "linewidth": 3.2 / (1 + number)}
    else:
        look |= {"angles": "xy", "scale_units": "xy", "scale": 1, "zorder": 2}
        look |= {"width": 0.014 / (1 + number)}
    axis.quiver(*np.zeros_like(tip), *tip, **look)
    return tip


def _frame(axis: Any, points: np.ndarray, reach: float) -> None:
    """Keep the axes equal, with all points, the origin and the tips of arrows in view."""
    low, high = np.minimum(points.min(axis=0), 0), np.maximum(points.max(axis=0), 0)
    half = float((high - low).max()) / 2 + 0.2 * reach
    for middle, limit in zip((low + high) / 2, ("x", "y", "z"), strict=False):
        getattr(axis, f"set_{limit}lim")(middle - half, middle + half)
    if points.shape[1] == 2:
        axis.set_aspect("equal")
        return
    axis.grid(visible=False)
    axis.set_box_aspect((1, 1, 1), zoom=1.15)


def _best_view(points: np.ndarray) -> tuple[int, int]:
    """Choose from where no two points hide each other."""

    def nearest(view: tuple[int, int]) -> float:
        up, around = np.radians(view)
        across = np.array([-np.sin(around), np.cos(around), 0])
        above = np.array([-np.sin(up) * np.cos(around), -np.sin(up) * np.sin(around), np.cos(up)])
        seen = points @ np.stack([across, above], axis=1)
        apart = np.linalg.norm(seen[:, None] - seen, axis=-1) + np.eye(len(seen)) * 1e9
        return float(apart.min())

    return max(
        (
            (up, around)
            for up in (12, 22, 32)
            for around in (*range(-75, -10, 8), *range(15, 80, 8))
        ),
        key=nearest,
    )
