"""A command line in a process of its own: its log, how it ended, and what it said of that."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnlab.environment import FAILURE
from attnlab.runs.machine import memory_kills

NO_WORDS = "it said nothing"
KILLED = "the system killed it, as it does where memory runs out."
MEMORY = "memory"


@dataclass(frozen=True)
class Ended:
    """A process that is over."""

    name: str
    code: int
    """Its exit code; that of a signal is negative."""
    said: str
    """What it said last, or why the system ended it."""
    in_a_word: str = ""
    """What stands for its result if it failed by itself: memory, nan, failed."""


@dataclass(frozen=True)
class Started:
    """A process that may still run."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    memory_kills: int | None = field(default_factory=memory_kills)
    """How many processes the system had killed for want of memory before."""

    @classmethod
    def command(
        cls,
        name: str,
        argv: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str],
        stdin: int = subprocess.DEVNULL,
        is_apart: bool = False,
    ) -> "Started":
        """Start a command; what it prints goes to the end of ``log``.

        What ``is_apart`` hears nothing of a Ctrl-C on our terminal: it is stopped by us alone.
        """
        failure = failure_file(log)
        failure.unlink(missing_ok=True)
        with log.open("ab") as file:
            process = subprocess.Popen(
                argv,
                stdin=stdin,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment, FAILURE: str(failure)},
                start_new_session=is_apart,
            )
        return cls(name, process, log)

    def ended(self) -> Ended | None:
        """Say how it ended, if it has."""
        code = self.process.poll()
        if code is None:
            return None
        if self.process.stdin:
            self.process.stdin.close()
        if code == -signal.SIGKILL and self._is_out_of_memory():
            return Ended(self.name, code, KILLED, MEMORY)
        in_a_word, message = noted_failure(self.log)
        said = message or last_line(self.log)
        return Ended(self.name, code, said, in_a_word if code else "")

    def _is_out_of_memory(self) -> bool:
        """Say whether the system has killed processes for want of memory meanwhile."""
        now = memory_kills()
        return now is not None and self.memory_kills is not None and now > self.memory_kills


def failure_file(log: Path) -> Path:
    """Return where a process with this log notes how it failed."""
    return log.with_name(f"{log.name}.failure")


def noted_failure(log: Path) -> tuple[str, str]:
    """Take what a process has noted of its failure: in a word and in full, empty if nothing."""
    file = failure_file(log)
    noted: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):  # gone, or not written to its end
        noted = json.loads(file.read_text(encoding="utf-8"))
    file.unlink(missing_ok=True)
    return noted.get("in_a_word", ""), noted.get("message", "")


def last_line(log: Path) -> str:
    """Return what a process said last; its log may have been removed meanwhile."""
    text = ""
    with contextlib.suppress(OSError):
        text = log.read_text(encoding="utf-8", errors="replace")
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else NO_WORDS
