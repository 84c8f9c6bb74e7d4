"""Runs a submission's code in a separate process with a time limit; the grader always survives."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grading import probe


def ask(file: Path, request: Mapping[str, Any], *, seconds: float) -> probe.Answer:
    """Let the probe run a file; if it gives no answer, the reason is under ``fatal``.

    The seconds are processor time, so that nobody fails because the machine is busy; a program that
    sleeps has five times as long.
    """
    if not file.is_file():
        return {"fatal": f"there is no {file.parent.name}/{file.name}"}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "request.json").write_text(
            json.dumps({**request, "seconds": seconds}), encoding="utf-8"
        )
        ended = _run(file, folder, seconds)
        answer = folder / "answer.npz"
        return _read(answer) if answer.exists() else ({"fatal": ended}, {})


def _run(file: Path, folder: Path, seconds: float) -> str:
    """Start the probe in its own session; say how it ended, in case there is no answer."""
    arguments = [file.resolve(), folder / "request.json", folder / "answer.npz"]
    with (folder / "errors").open("wb") as errors:
        started = subprocess.Popen(
            [sys.executable, probe.__file__, *map(str, arguments)],
            cwd=file.parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
    try:
        code = started.wait(timeout=5 * seconds)
    except subprocess.TimeoutExpired:
        code = -signal.SIGXCPU
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)  # and whatever it started
    started.wait()
    if code == -signal.SIGXCPU:
        return f"it took longer than {seconds:g} seconds and was stopped"
    said = (folder / "errors").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = f": {said[-1][:200]}" if said else ""
    return f"it ended with exit code {code} and gave no answer{last}"


def _read(answer: Path) -> probe.Answer:
    """Read the answer; nothing in it is executed."""
    try:
        with np.load(answer, allow_pickle=False) as found:
            said = json.loads(found["said"].tobytes())
            arrays = {name[6:]: found[name] for name in found if name.startswith("array ")}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        return {"fatal": f"its answer cannot be read: {error}"}, {}
    return said, arrays
