"""A sweep that is hurt: workers killed, two launchers at once; each cell ends as if undisturbed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attnlab.report.run_list import run_state
from attnlab.runs.directory import Run
from attnlab.runs.lock import is_held
from attnlab.runs.study import Study
from small_bert import write_reviews, write_small_bert

SELECT = (
    "classify select train.csv --dev dev.csv --test test.csv --model bert --max-len 16 --name sweep"
    " --lr 1e-3,5e-3,1e-2 --epochs 30,60 --set base.training.threads=1"
    " --set base.training.save_every=10"
).split()
CELLS = [f"lr-{lr}-epochs-{e}-seed-0" for e in (30, 60) for lr in ("1e-3", "5e-3", "1e-2")]
PATIENCE = 600


def start(folder: Path, *more: str, runs: str = "runs") -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "attnlab", *SELECT, "--runs", runs, *more]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def holder(cell: Path) -> int:
    """Wait until a worker trains a cell; return its process."""
    metrics, since = cell / "metrics.jsonl", time.monotonic()
    while not metrics.exists() or metrics.stat().st_size < 200:
        assert time.monotonic() - since < PATIENCE, "no worker has begun"
        time.sleep(0.01)
    return int((cell / ".lock").read_text())


def answers(study: Path) -> dict[str, bytes]:
    found = sorted(study.glob("*/predictions/*.jsonl"))
    return {str(path.relative_to(study)): path.read_bytes() for path in found}


@pytest.mark.slow
def test_a_killed_worker_and_two_launchers_leave_each_cell_done_once(tmp_path: Path) -> None:
    write_small_bert(tmp_path / "bert", dropout=0.1)
    write_reviews(tmp_path)
    undisturbed = start(tmp_path, runs="undisturbed")
    out, _ = undisturbed.communicate(timeout=PATIENCE)
    assert undisturbed.returncode == 0, out

    study = tmp_path / "runs" / "sweep"
    first = start(tmp_path, "--parallel", "3")
    os.kill(holder(study / CELLS[0]), signal.SIGKILL)
    out, _ = first.communicate(timeout=PATIENCE)
    assert first.returncode == 1, out
    assert f"the cell {CELLS[0]} ended with exit code -9" in out
    assert not (study / "chosen").exists()
    assert run_state(Run.open(study / CELLS[0])) == "stopped", "nothing is left running"
    finished = {path.parent.name: path.stat().st_mtime_ns for path in study.glob("*/record.json")}

    launchers = [start(tmp_path, "--parallel", "3"), start(tmp_path, "--parallel", "2")]
    texts = [launcher.communicate(timeout=PATIENCE)[0] for launcher in launchers]
    assert [launcher.returncode for launcher in launchers] == [0, 0], texts
    assert answers(study) == answers(tmp_path / "undisturbed" / "sweep")
    again = {name: (study / name / "record.json").stat().st_mtime_ns for name in finished}
    assert again == finished, "what was finished is not done again"
    records = {p.parent.name: json.loads(p.read_text()) for p in study.glob("*/record.json")}
    tests = {name: record["test"] for name, record in records.items()}
    assert tests == dict.fromkeys(CELLS, "not read") | {"chosen": "evaluated once"}
    newest = max(study.glob("*/record.json"), key=lambda path: path.stat().st_mtime_ns)
    assert newest.parent.name == "chosen", "test is read after the selection"
    assert {run_state(run) for run in Study.open(study).begun()} == {"finished"}

    other = start(tmp_path, "--lr", "2e-3", "--parallel", "3")
    out, _ = other.communicate(timeout=PATIENCE)
    assert other.returncode == 2, "results of an older sweep are not taken for those of another"
    assert "exists with other settings (lrs" in out


@pytest.mark.slow
def test_a_killed_launcher_s_cells_are_left_to_their_workers(tmp_path: Path) -> None:
    """The second launcher waits for what the first one's workers still train."""
    write_small_bert(tmp_path / "bert", dropout=0.1)
    write_reviews(tmp_path)
    study = tmp_path / "runs" / "sweep"
    first = start(tmp_path, "--parallel", "3")
    assert len({holder(study / cell) for cell in CELLS[:3]}) == 3
    second = start(tmp_path, "--parallel", "3")
    first.kill()
    out, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, out
    records = [study / cell / "record.json" for cell in CELLS]
    assert all(json.loads(path.read_text())["test"] == "not read" for path in records)
    assert json.loads((study / "chosen" / "record.json").read_text())["test"] == "evaluated once"
    assert not any(is_held(study / cell) for cell in CELLS)
    first.communicate()
