"""A watched process: ended where it holds too much, and never left alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attnlab.cluster.watched import run_watched
from attnlab.runs.machine import peak_memory_bytes

MB = 10**6
TAKES = "import time; held = bytearray(b'x') * {}; time.sleep({})"
pytestmark = pytest.mark.skipif(
    peak_memory_bytes() is None, reason="this system does not say what a process holds"
)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_process_that_holds_too_much_is_ended(tmp_path: Path) -> None:
    argv = python(TAKES.format(200 * MB, 60))
    found = run_watched(argv, most_bytes=100 * MB, log=tmp_path / "log")
    assert found.was_stopped
    assert found.ended.code == -signal.SIGKILL
    assert found.peak > 100 * MB


def test_one_that_holds_less_ends_by_itself_and_is_measured(tmp_path: Path) -> None:
    end = "from attnlab.cluster.watched import end_with_starter; end_with_starter(); "
    argv = python(end + TAKES.format(80 * MB, 0.1))
    found = run_watched(argv, most_bytes=1000 * MB, log=tmp_path / "log")
    assert (found.was_stopped, found.ended.code) == (False, 0)
    assert 80 * MB < found.peak < 200 * MB


STARTER = """
import sys
from pathlib import Path
from attnlab.cluster.watched import run_watched
run_watched([sys.executable, "-c", {child!r}], most_bytes=10**12, log=Path({log!r}))
"""
CHILD = """
import os, time
from attnlab.cluster.watched import end_with_starter
end_with_starter()
print(os.getpid(), flush=True)
time.sleep(60)
"""


def test_it_does_not_outlive_whoever_watches_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    starter = subprocess.Popen(python(STARTER.format(child=CHILD, log=str(log))))
    since = time.monotonic()
    while not (log.exists() and log.read_text().endswith("\n")):
        assert time.monotonic() - since < 60
        time.sleep(0.02)
    child = int(log.read_text())
    starter.kill()
    starter.wait()
    while _runs(child):
        assert time.monotonic() - since < 60, "it still runs"
        time.sleep(0.02)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
