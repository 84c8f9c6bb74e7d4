"""How long a run still takes, by the pace of its last logged steps."""

from collections.abc import Mapping, Sequence
from typing import Any

LOOK_BACK = 20
"""Logged lines: more than a moment, and not the slow beginning."""


def seconds_left(lines: Sequence[Mapping[str, Any]], total: int | None) -> float | None:
    """Return the seconds of training that are left; None if that is not known yet.

    Evaluations are left out. A resumed run counts its seconds on from where it stopped.
    """
    timed = [(line["step"], line["seconds"]) for line in lines if {"loss", "seconds"} <= set(line)]
    if not timed or total is None:
        return None
    first, begun = timed[-LOOK_BACK] if len(timed) > LOOK_BACK else (0, 0.0)
    last, now = timed[-1]
    if last <= first or now < begun:
        return None
    return float((now - begun) / (last - first) * max(0, total - last))
