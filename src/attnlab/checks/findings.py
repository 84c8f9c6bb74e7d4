"""What a check found, and how a user's function fails."""

import traceback
from dataclasses import dataclass
from pathlib import Path

FAILURES = (Exception, SystemExit)
"""What a user's code may raise; a call of exit() must not end the check."""
OTHERS = {"torch", "attnlab"}
"""Folders whose code is not the user's."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what is wrong with it if something is."""

    what: str
    problem: str | None = None

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None


def describe_failure(error: BaseException) -> str:
    """Say in one line what a user's code raised, and where in it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not OTHERS & set(Path(frame.filename).parts)]
    message = str(error).partition("\n")[0]
    where = f" (line {own[-1].lineno}, in {own[-1].name})" if own else ""
    return f"it raises {type(error).__name__}: {message}{where}"
