"""A process of its own: what it says of its end, and whose kill it was."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from attnlab.cluster.process import (
    NO_WORDS,
    Ended,
    Started,
    failure_file,
    last_line,
    noted_failure,
)
from attnlab.runs import machine

GUARDED = (
    "from attnlab.guard import guarded\nfrom attnlab import errors\nwith guarded('cell'): raise {}"
)
KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def run(code: str, folder: Path) -> Ended:
    argv = [sys.executable, "-c", code]
    started = Started.command("cell", argv, log=folder / "cell.log", environment={})
    while (ended := started.ended()) is None:
        time.sleep(0.01)
    return ended


@pytest.mark.parametrize(
    ("error", "code", "in_a_word", "said"),
    [
        ("errors.RunError('It stopped.')", 1, "failed", "It stopped."),
        ("errors.NotEnoughMemoryError('Too large.')", 2, "memory", "Too large."),
        ("MemoryError('9 bytes')", 1, "memory", "there is not enough memory for this (9 bytes)."),
        ("errors.WriteError('The disk is full.')", 1, "", "The disk is full."),
        ("errors.UserError('No such file.')", 2, "", "No such file."),
        ("ValueError('a bug')", 1, "", "unexpected ValueError"),
    ],
    ids=str,
)
def test_it_says_in_a_word_whether_it_failed_by_itself(
    error: str, code: int, in_a_word: str, said: str, tmp_path: Path
) -> None:
    ended = run(GUARDED.format(error), tmp_path)
    assert (ended.code, ended.in_a_word) == (code, in_a_word)
    assert ended.said.startswith(said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cell.log"]


def test_what_an_earlier_process_said_is_not_taken_for_its_own(tmp_path: Path) -> None:
    (tmp_path / "cell.log.failure").write_text('{"in_a_word": "nan", "message": "older"}')
    assert run("raise SystemExit(3)", tmp_path) == Ended("cell", 3, "it said nothing")


@pytest.mark.parametrize(("kills", "in_a_word"), [((4, 5), "memory"), ((4, 4), ""), ((), "")])
def test_a_kill_is_the_system_s_only_if_it_has_killed_meanwhile(
    kills: tuple[int, ...], in_a_word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vmstat = tmp_path / "vmstat"
    monkeypatch.setattr(machine, "VMSTAT", vmstat)
    if kills:
        vmstat.write_text(f"nr_free_pages 7\noom_kill {kills[0]}\n")
    argv = [sys.executable, "-c", f"import sys; sys.stdin.read(); {KILL}"]
    started = Started.command("cell", argv, log=tmp_path / "log", environment={}, stdin=-1)
    if kills:
        vmstat.write_text(f"nr_free_pages 7\noom_kill {kills[1]}\n")
    assert started.process.stdin
    started.process.stdin.close()
    started.process.wait()
    ended = started.ended()
    assert ended
    assert (ended.code, ended.in_a_word) == (-signal.SIGKILL, in_a_word)
    assert ("the system killed it" in ended.said) == bool(in_a_word)


def test_the_machine_says_the_peak_of_a_process() -> None:
    peak = machine.peak_memory_bytes(os.getpid())
    if peak is None:
        pytest.skip("this system does not say")
    assert peak > 2**20
    assert machine.peak_memory_bytes() == pytest.approx(peak, rel=0.5)
    assert machine.peak_memory_bytes(2**22 + 1) is None, "there is no such process"


@pytest.mark.parametrize("noted", [None, "{", '"'])
def test_a_lost_log_and_a_torn_note_are_no_error(noted: str | None, tmp_path: Path) -> None:
    log = tmp_path / "cell.log"
    if noted is not None:
        failure_file(log).write_text(noted, encoding="utf-8")
    assert noted_failure(log) == ("", "")
    assert last_line(log) == NO_WORDS
