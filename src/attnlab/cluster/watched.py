"""A command line that may hold so much memory and no more: a watcher ends it where it holds more.

The watcher reads the memory that the process has really touched, which is what the system kills
for. A limit of the operating system (RLIMIT_AS, RLIMIT_DATA) counts what is only reserved, such as
the stacks and arenas of torch's threads, and ends the process somewhere in a library's thread.
"""

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.cluster.process import Ended, Started
from attnlab.runs.machine import peak_memory_bytes

PAUSE = 0.01
"""Seconds between two looks: at some gigabytes a second, a process gets some 30 MB too far."""


@dataclass(frozen=True)
class Watched:
    """How a watched process ended."""

    ended: Ended
    peak: int
    """The most memory that it was seen to hold; 0 where the system does not say."""
    was_stopped: bool
    """Whether it held more than it may."""


def run_watched(argv: Sequence[str], *, most_bytes: int, log: Path) -> Watched:
    """Run a command, and end it as soon as it holds more memory than it may.

    Its standard input ends when this process does, however that ends: ``end_with_starter``.
    """
    started = Started.command(log.stem, argv, log=log, environment={}, stdin=subprocess.PIPE)
    peak, was_stopped = 0, False
    try:
        while (ended := started.ended()) is None:
            peak = max(peak, peak_memory_bytes(started.process.pid) or 0)
            if peak > most_bytes and not was_stopped:
                was_stopped = True
                started.process.kill()
            time.sleep(PAUSE)
    finally:
        started.process.kill()  # an error or a Ctrl-C here leaves nobody unwatched
        started.process.wait()
    return Watched(ended, peak, was_stopped)


def end_with_starter() -> None:
    """In a watched process: end at once if whoever watches it is killed."""

    def wait() -> None:
        os.read(0, 1)  # sys.stdin would hold a lock that the interpreter wants at its end
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
