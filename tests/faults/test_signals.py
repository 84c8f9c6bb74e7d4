"""Being asked to stop: every signal saves, says so and ends with its own exit code."""

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from processes import NAME, finish, finish_here, outcome, start

LONG = {"training__length": "4000 steps", "training__evaluate_every": 0}


def wait_for_steps(folder: Path, count: int) -> None:
    log = folder / NAME / "metrics.jsonl"
    for _ in range(6000):
        if log.exists() and log.read_text().count("\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError("the run logs no steps")


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2],
    ids=lambda n: n.name,
)
def test_a_signal_saves_and_the_same_command_goes_on(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = start(tmp_path, **LONG)
    wait_for_steps(tmp_path, 3)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "The same command goes on from there." in err
    assert "Traceback" not in err
    stopped = re.search(r"stopped after step (\d+) of 4000", err)
    assert stopped, err
    newest = sorted((tmp_path / NAME / "checkpoints").glob("step-*"))[-1]
    assert int(newest.name.removeprefix("step-")) == int(stopped[1])
    again = start(tmp_path, **LONG)
    wait_for_steps(tmp_path, int(stopped[1]) + 1)
    again.send_signal(number)
    _, err = again.communicate(timeout=60)
    assert f"resumed at step {int(stopped[1]):,} of" in err


def worker(parent: int, rank: int) -> int:
    """Find the process that torchrun started with a rank."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, environment = (folder / "status").read_text(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if f"PPid:\t{parent}\n" in status and f"\0RANK={rank}\0".encode() in environment:
            return int(folder.name)
    raise AssertionError("no such worker")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_signal_to_one_of_two_processes_stops_both(tmp_path: Path) -> None:
    process = start(tmp_path, processes=2, **LONG)
    wait_for_steps(tmp_path, 3)
    os.kill(worker(process.pid, 1), signal.SIGUSR1)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert err.count("The same command goes on from there.") == 1, err
    stopped = re.search(r"stopped after step (\d+) of 4000", err)
    assert stopped, err
    assert (tmp_path / NAME / "checkpoints" / f"step-{int(stopped[1]):08d}").is_dir()


@pytest.mark.slow
def test_a_run_stopped_by_ctrl_c_ends_as_if_it_had_not_been(
    tmp_path: Path, undisturbed: Any
) -> None:
    process = start(tmp_path)
    wait_for_steps(tmp_path, 4)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert finish(tmp_path).returncode == 0
    assert outcome(tmp_path) == undisturbed()


def test_a_second_process_on_the_same_run_is_refused(tmp_path: Path) -> None:
    process = start(tmp_path, **LONG)
    wait_for_steps(tmp_path, 1)
    second = finish_here(tmp_path, **LONG)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert second.code == 2
    assert f"process {process.pid} is working on" in second.err
