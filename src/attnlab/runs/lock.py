"""One process at a time works on a run."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from attnlab.errors import BusyError
from attnlab.runs.files import naming_the_path

LOCK = ".lock"
TRIES, PAUSE = 3, 0.05
"""Somebody who only looks whether a run is held (``is_held``) has the lock for a moment."""


def hold(folder: Path) -> BinaryIO:
    """Hold a run for this process until the returned file is closed; refuse if another has it.

    The operating system closes the files of a killed process.
    """
    with naming_the_path(folder / LOCK):
        lock = (folder / LOCK).open("a+b")
    try:
        _lock(lock)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().decode() or "unknown"
        lock.close()
        raise BusyError(
            f"process {holder} is working on {folder}. Wait for it, stop it, or give this run"
            " another --name."
        ) from None
    except OSError:
        pass  # some cluster file systems have no locks; there the user takes care
    lock.truncate(0)
    lock.write(str(os.getpid()).encode())
    lock.flush()
    return lock


@contextmanager
def our_turn(folder: Path) -> Iterator[None]:
    """Wait for the moment in which this process alone writes in a folder that several share."""
    with (folder / LOCK).open("ab") as lock:
        with suppress(OSError):  # some cluster file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_held(folder: Path) -> bool:
    """Say whether a process works on a run."""
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # never held, or a file system without locks
    return False


def _lock(lock: BinaryIO) -> None:
    for left in reversed(range(TRIES)):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not left:
                raise
            time.sleep(PAUSE)
        else:
            return
