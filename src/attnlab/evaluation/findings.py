"""What a check found, and how a user's function fails."""

import traceback
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what is wrong with it if something is."""

    what: str
    problem: str | None = None

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None


def describe_failure(error: Exception) -> str:
    """Say in one line what a user's code raised, and where in it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = str(error).partition("\n")[0]
    return f"it raises {type(error).__name__}: {message} (line {last.lineno}, in {last.name})"
