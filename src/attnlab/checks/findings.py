"""What a check found, and how a user's function fails."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FAILURES = (Exception, SystemExit)
"""What a user's code may raise; a call of exit() must not end the check."""
OTHERS = {"torch", "attnlab"}
"""Folders whose code is not the user's."""
Lack = Literal["wrong", "wrong elsewhere", "not written yet", "missing", "not checked"]
Status = Literal["right"] | Lack


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what is wrong with it if something is."""

    what: str
    problem: str | None = None
    lack: Lack = "wrong"
    """What a problem amounts to."""

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None

    @property
    def status(self) -> Status:
        """Say in a word how it stands."""
        return "right" if self.right else self.lack


Observer = Callable[[str, Callable[[], Finding]], Finding]
"""Carries out one check, given what is looked at; it may note that before and afterwards."""


def unobserved(what: str, check: Callable[[], Finding]) -> Finding:  # noqa: ARG001
    """Carry out a check and nothing else."""
    return check()


def describe_failure(error: BaseException) -> str:
    """Say in one line what a user's code raised, and where in it; or what it leaves to do."""
    message = str(error).partition("\n")[0]
    if isinstance(error, NotImplementedError) and message:
        return f"{message.removesuffix('.')}{_place(error)}"
    return f"it raises {type(error).__name__}: {message}{_place(error)}"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not OTHERS & set(Path(frame.filename).parts)]
    cell = own[-1].filename.rpartition(", ")[2] if own else ""
    place = f"{cell}, line" if cell.startswith("code cell ") else "line"
    return f" ({place} {own[-1].lineno}, in {own[-1].name})" if own else ""


def failed(what: str, error: BaseException, *, before: str = "") -> Finding:
    """Tell what is still to be written from what fails."""
    lack: Lack = "not written yet" if isinstance(error, NotImplementedError) else "wrong"
    said = str(error) if isinstance(error, NotWrittenError) else describe_failure(error)
    return Finding(what, f"{before}{said}", lack)


class NotWrittenError(NotImplementedError):
    """A user's function that returns nothing: its body is still to come."""
