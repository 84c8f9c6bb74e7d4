"""Errors in words a user can act on.

Every error carries the exit code that the command line ends with: 2 for a user's mistake, 1 for a
run that failed, 128 + signal for a run that was asked to stop.
"""

from collections.abc import Iterable


class AttnlabError(Exception):
    """An expected failure: shown as one or two lines, without a traceback."""

    exit_code = 1
    told_by_lead = False
    """Whether every process of a run raises it alike, so that one message is enough."""
    in_a_word = ""
    """What a study writes where a cell's score would be, and goes on; empty if it has to end."""


class UserError(AttnlabError):
    """A value, file or command that cannot be right; nothing was changed."""

    exit_code = 2


class NotFoundError(UserError):
    """A run that is not there."""


class BusyError(UserError):
    """Another process is working on it."""


class NotEnoughMemoryError(UserError):
    """Sizes that need more memory than is free."""

    in_a_word = "memory"


class RunError(AttnlabError):
    """A run that could not go on, such as one whose loss is not a number."""

    in_a_word = "failed"


class WriteError(RunError):
    """A file that cannot be written: the disk is full, or there is no permission."""

    in_a_word = ""


class DamagedFileError(UserError):
    """A file that is not what its name or its manifest says."""


class StoppedError(AttnlabError):
    """A run that saved itself and ended because a signal asked for it."""

    told_by_lead = True

    def __init__(self, message: str, *, signal_number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number


class HandedOver(AttnlabError):  # noqa: N818 - nothing has failed
    """What is left of the work goes on in other jobs."""

    exit_code = 0


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest known name, or nothing."""
    import difflib  # here, so that a Ctrl-C soon after the start finds the guard in place

    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Build the error for a name that nobody registered."""
    known = sorted(known)
    listed = ", ".join(known) or "none"
    return UserError(f"no {kind} is called {name!r}.{did_you_mean(name, known)} Known: {listed}.")
