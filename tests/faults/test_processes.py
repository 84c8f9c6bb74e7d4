"""One process against two: the same batches, cut differently."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import DRIVER, NAME, finish
from safetensors.torch import load_file

from small_jobs import SMALL_DEMO

# float64, no dropout: what remains is the order of additions.
EXACT = {
    "training__precision": "float64",
    "model__dropout": 0.0,
    "training__length": "50 steps",
}


@pytest.mark.slow
def test_one_and_two_processes_agree_to_1e_10_after_fifty_steps(tmp_path: Path) -> None:
    weights = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        done = finish(folder, processes=processes, **EXACT)
        assert done.returncode == 0, done.stderr
        checkpoint = folder / NAME / "checkpoints" / "step-00000050"
        weights.append(load_file(checkpoint / "model.safetensors"))
    one, two = weights
    assert one.keys() == two.keys()
    furthest = max(float((one[name] - two[name]).abs().max()) for name in one)
    assert furthest < 1e-10
    assert furthest > 0, "two processes cannot add in the same order: was there only one?"


@pytest.mark.slow
def test_a_demo_runs_in_two_processes(tmp_path: Path) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    demo = [str(DRIVER), "{}", "knowledge", "demo", "--name", NAME]
    done = subprocess.run(
        [
            sys.executable,
            *torchrun,
            *demo,
            *(f"--set={key}={value}" for key, value in SMALL_DEMO.items()),
        ],
        cwd=tmp_path,
        env=os.environ | {"ATTNLAB_RUNS": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("report.html") == 1
    study = json.loads((tmp_path / NAME / "study.json").read_text())
    assert study["runs"] == ["majority", "questions-alone", "recall", "synthesizer"]
