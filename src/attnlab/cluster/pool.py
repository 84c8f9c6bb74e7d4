"""A pool of processes: command lines that run side by side, each with a log of its own."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnlab.cluster.process import Ended, Started

PAUSE = 0.1
"""Seconds between two looks at the processes."""


@dataclass
class Pool:
    """At most ``size`` processes; those left at the end are asked to stop and waited for."""

    size: int
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that its processes have besides our own."""
    _running: dict[str, Started] = field(default_factory=dict)

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
        self._running[name] = Started.command(name, argv, log=log, environment=self.environment)

    def wait(self) -> list[Ended]:
        """Wait a moment; return what has ended by then."""
        time.sleep(PAUSE)
        over = [ended for one in self._running.values() if (ended := one.ended())]
        for ended in over:
            del self._running[ended.name]
        return over

    def __enter__(self) -> "Pool":
        """Take commands."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ask whatever still runs to stop, which saves, and wait for it."""
        for started in self._running.values():
            started.process.terminate()
        for started in self._running.values():
            started.process.wait()
        self._running.clear()
