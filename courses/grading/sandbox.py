"""Runs a submission's code in a separate process with limits; the grader always survives."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from attnlab.errors import did_you_mean
from attnlab.guard import signal_name
from grading.probing import COURSES, Answer


@dataclass(frozen=True)
class Limits:
    """What a process of a submission may use."""

    seconds: float = 120.0
    """Processor time, so that nobody fails because the machine is busy; a program that sleeps has
    five times as long."""
    gigabytes: float = 4.0


def ask(probe: ModuleType, file: Path, request: Mapping[str, Any], limits: Limits) -> Answer:
    """Let a probe run a file; if it gives no answer, the reason is under ``fatal``.

    A notebook of that name is taken as it is.
    """
    notebook = file.with_suffix(".ipynb")
    if not file.is_file() and not notebook.is_file():
        near = did_you_mean(file.name, [path.name for path in file.parent.glob("*")])
        return {"fatal": f"there is no {file.parent.name}/{file.name}.{near}"}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        limited = {**request, "seconds": limits.seconds, "bytes": int(limits.gigabytes * 2**30)}
        (folder / "request.json").write_text(json.dumps(limited), encoding="utf-8")
        ended = _run(probe, file if file.is_file() else notebook, folder, limits)
        answer = folder / "answer.npz"
        return _read(answer) if answer.exists() else ({"fatal": ended}, {})


def _run(probe: ModuleType, file: Path, folder: Path, limits: Limits) -> str:
    """Start the probe in its own session; say how it ended, in case there is no answer."""
    arguments = [file.resolve(), folder / "request.json", folder / "answer.npz"]
    paths = [str(COURSES), os.environ.get("PYTHONPATH", "")]
    with (folder / "errors").open("wb") as errors:
        started = subprocess.Popen(
            [sys.executable, "-P", "-m", probe.__name__, *map(str, arguments)],
            cwd=file.parent.parent,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
    try:
        code = started.wait(timeout=5 * limits.seconds)
    except subprocess.TimeoutExpired:
        code = -signal.SIGXCPU
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)  # and whatever it started
        started.wait()
    if code == -signal.SIGXCPU:
        return f"it took longer than {limits.seconds:g} seconds and was stopped"
    said = (folder / "errors").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = f": {said[-1][:200]}" if said else ""
    how = f"with exit code {code}" if code >= 0 else f"by signal {signal_name(-code)}"
    return f"it ended {how} and gave no answer{last}"


def _read(answer: Path) -> Answer:
    """Read the answer; nothing in it is executed."""
    try:
        with np.load(answer, allow_pickle=False) as found:
            said = json.loads(found["said"].tobytes())
            arrays = {name[6:]: found[name] for name in found if name.startswith("array ")}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        return {"fatal": f"its answer cannot be read: {error}"}, {}
    return said, arrays
