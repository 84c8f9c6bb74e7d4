"""The pool of processes: as many as asked for, logs, exit codes, and none left behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from attnlab.cluster.pool import Pool
from attnlab.cluster.process import Ended


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def all_ended(pool: Pool) -> list[Ended]:
    found: list[Ended] = []
    while pool.running:
        found += pool.wait()
    return found


def test_it_tells_how_each_command_ended_and_what_it_said_last(tmp_path: Path) -> None:
    with Pool(2, {"SHARE": "3"}) as pool:
        said = "import os; print('first'); print(os.environ['SHARE'])"
        pool.start("good", python(said), log=tmp_path / "good.log")
        assert pool.has_room
        pool.start("bad", python("raise SystemExit(7)"), log=tmp_path / "bad.log")
        assert not pool.has_room
        ended = {one.name: one for one in all_ended(pool)}
    assert ended["good"] == Ended("good", 0, "3")
    assert ended["bad"] == Ended("bad", 7, "it said nothing")
    assert (tmp_path / "good.log").read_text() == "first\n3\n"


def test_one_that_is_killed_ends_with_the_signal(tmp_path: Path) -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    with Pool(1) as pool:
        pool.start("cell", python(kill), log=tmp_path / "log")
        assert [one.code for one in all_ended(pool)] == [-signal.SIGKILL]


def test_what_is_left_at_the_end_is_asked_to_stop_and_waited_for(tmp_path: Path) -> None:
    saves = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(143)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    log = tmp_path / "log"
    with Pool(1) as pool:
        pool.start("cell", python(saves), log=log)
        process = pool._running["cell"].process
        while "ready" not in log.read_text():
            time.sleep(0.02)
    assert log.read_text() == "ready\nsaved\n"
    assert process.returncode == 143
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
