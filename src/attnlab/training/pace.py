"""Notices a run that has become much slower than it was when it began."""

from collections import deque
from statistics import median

WARM_UP, FIRST_STEPS = 1, 20
"""Steps that say what is normal, after one that warms up."""
LATEST_STEPS, LATEST_SECONDS = 20, 5.0
"""How many of the latest steps are looked at, and how long they must have taken."""
SLOW = 3.0


class Pace:
    """Tokens per second: of the first steps, and of the latest ones."""

    def __init__(self) -> None:
        self._first: list[float] = []
        self._latest: deque[tuple[float, float]] = deque(maxlen=LATEST_STEPS)
        self._noticed = False

    def slowdown(self, tokens: int, seconds: float) -> str | None:
        """Take a step in; once in a run, return a sentence if it has become slow."""
        rate = tokens / max(seconds, 1e-9)
        if len(self._first) < WARM_UP + FIRST_STEPS:
            self._first.append(rate)
            return None
        self._latest.append((rate, seconds))
        return None if self._noticed else self._judge()

    def _judge(self) -> str | None:
        took = sum(seconds for _, seconds in self._latest)
        if len(self._latest) < LATEST_STEPS or took < LATEST_SECONDS:
            return None
        first, latest = median(self._first[WARM_UP:]), median(rate for rate, _ in self._latest)
        if latest * SLOW > first:
            return None
        self._noticed = True
        return (
            f"the machine is busy: {latest:,.0f} tokens/s now, {first:,.0f} at the start."
            " The result will be the same, only later."
        )
