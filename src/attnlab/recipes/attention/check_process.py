"""Checks a student's file in a process of its own, which may loop forever, exit or crash."""

import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attnlab.checks.findings import Finding, Observer
from attnlab.environment import DEBUG, QUIET, is_on
from attnlab.errors import UserError
from attnlab.guard import explain, signal_name, watch_threads
from attnlab.phases import phase
from attnlab.runs.files import reading

Report = dict[str, list[Finding]]
POLL_SECONDS = 0.05


@phase("checking")
def check_file_apart(
    file: Path,
    *,
    only: Collection[str] = (),
    like: str | None = None,
    seconds: float = 60.0,
    gigabytes: float | None = None,
    shows_prints: bool = True,
) -> Report:
    """Check a file as ``check.check_file`` does, within limits of time and of memory.

    What the file prints goes to standard error, or nowhere.
    """
    with reading(file):  # loading torch to find no file would take seconds
        pass
    asked = {"file": str(file), "only": list(only), "like": like, "gigabytes": gigabytes}
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.jsonl")
        notes.touch()
        command = [sys.executable, "-m", __name__, json.dumps(asked), str(notes)]
        ended = _run(command, notes, seconds=seconds, shows_prints=shows_prints)
        lines = notes.read_text(encoding="utf-8").splitlines()
    return _report([json.loads(line) for line in lines], file, ended)


def _run(command: list[str], notes: Path, *, seconds: float, shows_prints: bool) -> str:
    """Run a process in its own session; say how it ended, in case its notes do not.

    The seconds count from its first note, so that loading torch takes none of them.
    """
    started = subprocess.Popen(
        command,
        env={**os.environ, QUIET: "1"},
        stdin=subprocess.DEVNULL,
        stdout=2 if shows_prints else subprocess.DEVNULL,  # what it prints is not our answer
        stderr=None if shows_prints else subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = math.inf
    try:
        while started.poll() is None:
            time.sleep(POLL_SECONDS)
            if deadline == math.inf and notes.stat().st_size:
                deadline = time.monotonic() + seconds
            if time.monotonic() > deadline:
                limit = f"{seconds:g} seconds (--time-limit)"
                return f"has not ended after {limit}: is there an endless loop?"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)  # and whatever it started
        started.wait()
    if started.returncode < 0:
        return f"crashes: its process was ended by signal {signal_name(-started.returncode)}"
    return f"ends the whole process with exit code {started.returncode}"


def _report(notes: list[dict[str, Any]], file: Path, ended: str) -> Report:
    """Put the findings together; what was being checked when the process ended is wrong."""
    report: Report = {}
    running: tuple[str, str] | None = None
    for note in notes:
        match note:
            case {"error": message}:
                raise UserError(message)
            case {"section": section, "begins": what}:
                running = section, what
            case {"section": section, "finding": dict(fields)}:
                found = Finding(**fields)
                report.setdefault(section, []).extend([found] * (found != BUILT))
                running = None
            case {"end": _}:
                return report
    if running is None:
        raise UserError(f"{file} {ended}, while it was being loaded.")
    section, what = running
    rest = Finding("what comes next", "was not reached", "not checked")
    report.setdefault(section, []).extend([Finding(what, f"it {ended}"), rest])
    return report


BUILT = Finding("is built and called")
"""Not worth a line when all is well."""


def _note_findings(notes: Path, request: str) -> None:
    """Check a file and write down each check before and after it."""
    with notes.open("a", encoding="utf-8", buffering=1) as out:

        def write(**note: object) -> None:
            out.write(json.dumps(note) + "\n")

        def observe(section: str) -> Observer:
            def check(what: str, carry_out: Callable[[], Finding]) -> Finding:
                write(section=section, begins=what)
                finding = carry_out()
                write(section=section, finding=asdict(finding))
                return finding

            return check

        from attnlab.recipes.attention.check import check_file

        write(ready=True)
        try:
            asked = json.loads(request)
            file = Path(asked.pop("file"))
            if gigabytes := asked.pop("gigabytes"):
                limit = int(gigabytes * 2**30)
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
            check_file(file, **asked, observe=observe)
        except BaseException as error:
            if is_on(DEBUG):
                raise
            write(error=explain("attnlab", error)[0])
        else:
            write(end=True)


if __name__ == "__main__":
    watch_threads("attnlab")
    _note_findings(Path(sys.argv[2]), sys.argv[1])
    os._exit(0)  # threads that the file left behind do not keep us waiting
