"""Kills the command line again and again, and compares what it leaves in the end."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

DRIVER = Path(__file__).with_name("killed_at_event.py")
TRAINING = {"length": "7 steps", "save_every": 2, "threads": 1, "log_every": 1}


def sets(**values: object) -> list[str]:
    return [f"--set={key.replace('__', '.')}={json.dumps(v)}" for key, v in values.items()]


def trained(**more: object) -> list[str]:
    return sets(**{f"training__{k}": v for k, v in {**TRAINING, **more}.items()})


def start(inputs: Path, runs: Path, words: list[str], event: int) -> tuple[int, str]:
    """Give a command that works in ``runs``; return its exit code and how many events it had."""
    spec = json.dumps({"event": event, "folder": str(runs)})
    fixed = {"ATTNLAB_PRECISION": "float32", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(DRIVER), spec, *words, "--name", "run", "--runs", str(runs)],
        cwd=inputs,
        env=os.environ | fixed,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stderr


def outcome(runs: Path) -> dict[str, bytes]:
    """Return the path of every file, with what must be equal bit for bit."""
    exact = (".safetensors", ".jsonl", ".txt", ".tsv")
    return {
        str(path.relative_to(runs)): path.read_bytes()
        if path.suffix in exact and path.name != "metrics.jsonl"
        else b""
        for path in runs.rglob("*")
        if path.is_file()
    }


def end_the_same(job: str, words: list[str], *, kills: int, inputs: Path, folder: Path) -> None:
    """Kill a command at random events, so often; it must end as it does undisturbed."""
    code, err = start(inputs, folder / "whole", words, 0)
    assert code == 0, err
    expected, n_events = outcome(folder / "whole"), int(err.split()[-1])
    generator = np.random.default_rng([ord(letter) for letter in job])
    runs, points = folder / "killed", []
    while len(points) < kills:
        event = int(generator.integers(1, max(3, n_events // 2)))
        code, err = start(inputs, runs, words, event)
        if code == -signal.SIGKILL:
            points.append(event)
            continue
        assert code == 0, (points, err)
        assert outcome(runs) == expected, points
        shutil.rmtree(runs)
    code, err = start(inputs, runs, words, 0)
    assert code == 0, (points, err)
    assert outcome(runs) == expected, points
