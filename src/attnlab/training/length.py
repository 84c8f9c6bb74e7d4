"""How long a run is: the loop counts steps, so every other unit is converted to steps first."""

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from attnlab.errors import UserError

UNITS = ("steps", "epochs", "tokens", "seconds")
LONGEST = 1e12
_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


class Length(NamedTuple):
    """An amount and its unit."""

    amount: float
    unit: str


def parse_length(text: str) -> Length:
    """Read "300 steps", "2.5 epochs", "2.2M tokens" or "90 seconds"."""
    try:
        return read_length(text)
    except ValueError as error:
        raise UserError(f"the length {text!r} is not possible: {error}.") from None


def read_length(text: str) -> Length:
    """Read a length as settings check it: the error says only what is allowed."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kMG]?) ?([a-z]+)", " ".join(text.split()))
    unit = match[3] if match else ""
    unit = unit if unit.endswith("s") else f"{unit}s"
    if not match or unit not in UNITS or not 0 < float(match[1]) < LONGEST:
        raise ValueError(
            f"give a number above 0 and one of {', '.join(UNITS)}, for example '300 steps' or"
            " '2.2M tokens'"
        )
    return Length(float(match[1]) * _FACTORS[match[2]], unit)


def count_steps(
    length: Length,
    *,
    steps_in: Callable[[float, str], float],
    seconds_per_step: Callable[[], float],
) -> int:
    """Turn a length into whole steps, at least one; seconds are measured on this machine."""
    if length.unit == "steps":
        steps = length.amount
    elif length.unit == "seconds":
        steps = length.amount / seconds_per_step()
    else:
        steps = steps_in(length.amount, length.unit)
    return max(1, math.floor(steps + 0.5))
