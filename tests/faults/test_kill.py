"""Faults 1 and 2: a run that is killed and started again ends as if nothing had happened.

Real processes, real SIGKILLs, dropout on, one and two processes.
"""

import fcntl
import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from processes import INTERVAL, NAME, STEPS, finish, outcome, start

pytestmark = pytest.mark.precision

HALF_WRITTEN = "save 2: half model.safetensors"
STEP_POINTS = [f"after step {n}" for n in (1, 5, 6, 8, 12, 16, 18, 23, STEPS)]
SAVE_POINTS = [
    "save 1: half state.json",
    "save 2: before model.safetensors",
    "save 2: after model.safetensors",
    "save 3: half optimizer.safetensors",
    "save 3: after manifest.json",
    "save 3: before rename",
    "save 3: after rename",
    "save 3: while pruning",
]
SLOW_POINTS = [*STEP_POINTS, *SAVE_POINTS]
OUTSIDE_KILLS = 20 - len(SLOW_POINTS)


def check_that_a_kill_leaves_no_trace(
    folder: Path, point: str, processes: int, expected: dict[str, Any]
) -> None:
    killed = finish(folder, kill=point, processes=processes)
    assert killed.returncode != 0, f"the point {point!r} was never reached"
    assert not (folder / NAME / "record.json").exists()
    checkpoints = folder / NAME / "checkpoints"
    left = {path.name for path in checkpoints.glob("*")}
    half_done = point.startswith("save") and not point.endswith("after rename")
    assert any(name.startswith(".tmp-") for name in left) == half_done, left
    newest = max((int(n.removeprefix("step-")) for n in left if n[0] == "s"), default=0)
    assert newest >= steps_done(folder) - INTERVAL
    resumed = finish(folder, processes=processes)
    assert resumed.returncode == 0, resumed.stderr
    if newest < STEPS:
        went_on = f"resumed at step {newest} of" if newest else f"{STEPS} steps"
        assert went_on in resumed.stderr
    assert outcome(folder) == expected


def steps_done(folder: Path) -> int:
    log = (folder / NAME / "metrics.jsonl").read_text()
    return max((json.loads(line)["step"] for line in log.splitlines()), default=0)


@pytest.mark.parametrize(
    ("point", "processes"),
    [
        pytest.param("after step 9", 1, id="after a step, one process", marks=pytest.mark.slow),
        pytest.param(HALF_WRITTEN, 1, id="half written, one process", marks=pytest.mark.slow),
        pytest.param(HALF_WRITTEN, 2, id="half written, two processes", marks=pytest.mark.slow),
        pytest.param("after step 9", 2, id="after a step, two processes", marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_resumes_bit_for_bit(
    point: str, processes: int, tmp_path: Path, undisturbed: Any
) -> None:
    check_that_a_kill_leaves_no_trace(tmp_path, point, processes, undisturbed(processes))


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize("point", SLOW_POINTS)
def test_a_run_killed_at_any_point_resumes_bit_for_bit(
    point: str, processes: int, tmp_path: Path, undisturbed: Any
) -> None:
    check_that_a_kill_leaves_no_trace(tmp_path, point, processes, undisturbed(processes))


@pytest.mark.slow
def test_a_run_whose_second_process_is_killed_resumes_bit_for_bit(
    tmp_path: Path, undisturbed: Any
) -> None:
    killed = finish(tmp_path, kill="after step 9", rank=1, processes=2)
    assert killed.returncode != 0
    assert not (tmp_path / NAME / "record.json").exists()
    resumed = finish(tmp_path, processes=2)
    assert resumed.returncode == 0, resumed.stderr
    assert outcome(tmp_path) == undisturbed(2)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize("attempt", range(OUTSIDE_KILLS))
def test_a_run_killed_from_outside_resumes_bit_for_bit(
    attempt: int, processes: int, tmp_path: Path, undisturbed: Any
) -> None:
    dice = random.Random(attempt)
    process = start(tmp_path, processes=processes)
    log = tmp_path / NAME / "metrics.jsonl"
    wanted = dice.randrange(1, STEPS - 1)
    while process.poll() is None:
        if log.exists() and log.read_text().count("\n") >= wanted:
            time.sleep(dice.random() * 0.02)
            break
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, "the run was over before it could be killed"
    wait_until_free(tmp_path / NAME / ".lock")
    resumed = finish(tmp_path, processes=processes)
    assert resumed.returncode == 0, resumed.stderr
    assert outcome(tmp_path) == undisturbed(processes)


def wait_until_free(lock: Path) -> None:
    """Wait for workers whose torchrun was killed: they notice it and end by themselves."""
    for _ in range(600):
        with lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.1)
            else:
                return
    raise AssertionError(f"{lock} is still held")
