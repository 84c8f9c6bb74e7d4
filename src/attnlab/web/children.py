"""Jobs that the server runs: each a process of its own, by the command that a user would type.

They are stopped as Ctrl-C stops them, so that each saves itself and the same command goes on with
it. When the server ends, so do they.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from attnlab.cluster.process import Ended, Started
from attnlab.environment import NO_USERS_CODE
from attnlab.errors import BusyError, NotFoundError, UserError
from attnlab.guard import say
from attnlab.web.inside import leads_out, link_out

MOST_JOBS = 2
"""How many run at a time: they share the cores with each other, and with the page."""
FOLDER = ".web"
"""In the runs folder, which does not list it: settings and log of each job by its name."""
PATIENCE = 60.0
"""Seconds that a job has at the end of the server to finish its step and save itself."""
PAUSE = 0.05
MOST_KEPT = 10
"""Of jobs that have ended."""
BY_SIGNAL = {
    sign * number + more
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    for sign, more in ((-1, 0), (1, 128))
}
"""Exit codes of a process that was asked to stop, or killed."""

State = Literal["running", "stopping", "stopped", "failed", "finished"]


@dataclass
class Child:
    """A job that was started here, running or not."""

    name: str
    """The run or study that it works on."""
    job: str
    argv: list[str] = field(repr=False)
    started: Started
    asked_to_stop: bool = False
    ended: Ended | None = None

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self.ended is None

    @property
    def state(self) -> State:
        """How it is, in a word."""
        if self.ended is None:
            return "stopping" if self.asked_to_stop else "running"
        if self.ended.code == 0:
            return "finished"
        was_stopped = self.ended.code in BY_SIGNAL and not self.ended.in_a_word  # as of memory
        return "stopped" if was_stopped else "failed"


class Children:
    """The jobs of one server, by name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._by_name: dict[str, Child] = {}
        self._lock = threading.RLock()  # requests come in threads

    def start(self, name: str, job: str, settings: str) -> Child:
        """Run a job with a file of settings; refuse if that name, or as many as may, is running."""
        with self._lock:
            self._refuse_if_busy(name)
            folder = self.root / FOLDER
            folder.mkdir(parents=True, exist_ok=True)
            if link := link_out(folder, self.root):
                raise UserError(leads_out(link, self.root))
            config, log = folder / f"{name}.yaml", folder / f"{name}.log"
            config.write_text(settings, encoding="utf-8")
            return self._run(name, job, command_of(name, job, config, self.root), log)

    def go_on(self, name: str) -> Child:
        """Give the command of a job that has ended once more."""
        with self._lock:
            child = self.find(name)
            self._refuse_if_busy(name)
            return self._run(name, child.job, child.argv, child.started.log)

    def stop(self, name: str) -> Child:
        """Ask a job to save itself and end; asking again changes nothing."""
        with self._lock:
            child = self.find(name)
            if not child.is_running:
                raise UserError(f"the job {name!r} is not running.")
            if not child.asked_to_stop:
                child.asked_to_stop = True
                child.started.process.send_signal(signal.SIGINT)
            return child

    def find(self, name: str) -> Child:
        """Return a job by its name."""
        found = {child.name: child for child in self.all()}
        if name not in found:
            raise NotFoundError(f"no job called {name!r} was started here.")
        return found[name]

    def all(self) -> list[Child]:
        """Return all jobs that were started here, the latest first."""
        with self._lock:
            for child in self._by_name.values():
                child.ended = child.ended or child.started.ended()
            return list(reversed(self._by_name.values()))

    def close(self) -> None:
        """Stop what runs, and wait until it has saved itself; what takes too long is killed."""
        running = [child for child in self.all() if child.is_running]
        if running:
            names = ", ".join(child.name for child in running)
            say("attnlab", f"waiting for {names} to be saved.")
        for child in running:
            with suppress(UserError):  # it has just ended
                self.stop(child.name)
        _wait(running, PATIENCE)
        for child in running:
            child.started.process.kill()
            child.started.process.wait()
        self.all()  # takes note of how each ended

    def _refuse_if_busy(self, name: str) -> None:
        running = [child.name for child in self.all() if child.is_running]
        if name in running:
            raise BusyError(f"the job {name!r} is running already.")
        if len(running) >= MOST_JOBS:
            raise BusyError(
                f"{MOST_JOBS} jobs are running ({', '.join(running)}), which is as many as the"
                " server runs at a time. Stop one, or wait for it."
            )

    def _run(self, name: str, job: str, argv: list[str], log: Path) -> Child:
        self._by_name.pop(name, None)
        for old in [one for one in self.all() if not one.is_running][MOST_KEPT:]:
            del self._by_name[old.name]
        log.unlink(missing_ok=True)
        started = Started.command(
            name, argv, log=log, environment={NO_USERS_CODE: "1"}, is_apart=True
        )
        child = self._by_name[name] = Child(name, job, argv, started)
        return child


def command_of(name: str, job: str, config: Path, root: Path) -> list[str]:
    """Return the command line of a job; an equals sign keeps a name from being a flag."""
    argv = [sys.executable, "-m", "attnlab", "run", job, "--config", str(config)]
    return [*argv, f"--name={name}", "--runs", str(root)]


def _wait(children: Iterable[Child], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(c.started.process.poll() is None for c in children):
        time.sleep(PAUSE)
