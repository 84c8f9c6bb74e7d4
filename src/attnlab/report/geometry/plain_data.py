"""An explanation as plain data for JSON: its words, all numbers, and what its figure shows."""

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from attnlab.geometry.explanation import Explanation


def explanation_data(explained: Explanation) -> dict[str, Any]:
    """Give all that is known, with the kind of each panel."""
    panels = [{"kind": type(panel).__name__, **as_data(panel)} for panel in explained.panels]
    return {**as_data(explained), "panels": panels}


def as_data(value: Any) -> Any:
    """Turn dataclasses, with what they compute, and arrays into dicts and lists; ∞ is null.

    A field that ``repr`` leaves out is left out here too: a curve's many points are in its panel.
    """
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.repr]
        names += [n for n, member in vars(type(value)).items() if isinstance(member, property)]
        return {name: as_data(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray | np.generic):
        return as_data(value.tolist())
    if isinstance(value, dict):
        return {str(key): as_data(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
