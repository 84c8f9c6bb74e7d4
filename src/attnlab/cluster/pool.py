"""A pool of processes: command lines that run side by side, each with a log of its own."""

import os
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAUSE = 0.1
"""Seconds between two looks at the processes."""
NO_WORDS = "it said nothing"


@dataclass(frozen=True)
class Ended:
    """A process that is over."""

    name: str
    code: int
    """Its exit code; that of a signal is negative."""
    last_line: str
    """What it said last."""


@dataclass
class Pool:
    """At most ``size`` processes; those left at the end are asked to stop and waited for."""

    size: int
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that its processes have besides our own."""
    _running: dict[str, tuple["subprocess.Popen[bytes]", Path]] = field(default_factory=dict)

    @property
    def running(self) -> Collection[str]:
        """The names of what runs now."""
        return self._running.keys()

    @property
    def has_room(self) -> bool:
        """Whether another process may be started."""
        return len(self._running) < self.size

    def start(self, name: str, argv: Sequence[str], *, log: Path) -> None:
        """Start a command; what it prints goes to the end of ``log``."""
        assert self.has_room, "the pool is full"
        with log.open("ab") as file:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | self.environment,
            )
        self._running[name] = (process, log)

    def wait(self) -> list[Ended]:
        """Wait a moment; return what has ended by then."""
        time.sleep(PAUSE)
        over = {
            name: (code, log)
            for name, (process, log) in self._running.items()
            if (code := process.poll()) is not None
        }
        for name in over:
            del self._running[name]
        return [Ended(name, code, last_line(log)) for name, (code, log) in over.items()]

    def __enter__(self) -> "Pool":
        """Take commands."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ask whatever still runs to stop, which saves, and wait for it."""
        for process, _log in self._running.values():
            process.terminate()
        for process, _log in self._running.values():
            process.wait()
        self._running.clear()


def last_line(log: Path) -> str:
    """Return what a process said last."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else NO_WORDS
