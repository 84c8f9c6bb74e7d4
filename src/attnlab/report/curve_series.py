"""What training curves show: which logged quantities share a panel, and their points. No numpy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_POINTS = 400
Point = tuple[float, float]
"""A step (or epoch), and the value there."""


@dataclass(frozen=True)
class Panel:
    """One drawing: the points of each split by its name."""

    title: str
    series: Mapping[str, Sequence[Point]]


def curve_panels(lines: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """Return what to draw of a log over its steps; a long one is averaged down."""
    logged = {key for line in lines for key in line}
    return [
        Panel(title, {split_of(key): averaged(logged_points(lines, key)) for key in keys})
        for title, keys in panel_keys(logged).items()
    ]


def panel_keys(logged: Iterable[str]) -> dict[str, list[str]]:
    """Return the logged keys that each panel shows, by its title."""
    known = sorted(logged)
    losses, accuracies = (
        [key for key in known if key.endswith(ending)] for ending in ("_loss", "_accuracy")
    )
    panels = {
        "Training loss (nats)": ["loss"] if "loss" in known else [],
        f"Loss{_where(losses)} (nats)": losses,
        f"Accuracy{_where(accuracies)} (%)": accuracies,
    }
    return {title: keys for title, keys in panels.items() if keys}


def logged_points(
    lines: Sequence[Mapping[str, Any]], key: str, per_epoch: float = 1
) -> list[Point]:
    """Return where a quantity was logged and its value; accuracies in percent."""
    unit = 100 if key.endswith("_accuracy") else 1
    return [
        (line["step"] / per_epoch, unit * line[key])
        for line in lines
        if isinstance(line.get(key), int | float)
    ]


def averaged(points: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """Average neighbours until at most so many points are left."""
    n = len(points)
    if n <= most:
        return list(points)
    bounds = [n * i // most for i in range(most + 1)]
    groups = [points[bounds[i] : bounds[i + 1]] for i in range(most)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]


def split_of(key: str) -> str:
    """Return the split that a logged key is about."""
    return key.rpartition("_")[0].replace("_", " ") or "train"


def _where(keys: Sequence[str]) -> str:
    """Name the split of a panel that shows only one; of several, its legend names each."""
    return f" on {split_of(keys[0])}" if len(keys) == 1 else ""
