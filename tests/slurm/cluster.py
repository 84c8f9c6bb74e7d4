"""What the tests of a real cluster share: commands with time limits, and comparing runs."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from small_bert import write_reviews, write_small_bert

T = TypeVar("T")
LONGEST = 240
"""Seconds after which anything here has failed."""
TIMED = ("seconds", "evaluation_seconds")


@dataclass(frozen=True)
class Cluster:
    """A running cluster, and the folder that a test submits from."""

    conf: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        fixed = {"SLURM_CONF": str(self.conf), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        fixed["ATTNLAB_PRECISION"] = "float32"
        return os.environ | fixed

    def write_inputs(self) -> None:
        write_small_bert(self.folder / "bert", dropout=0.1)
        write_reviews(self.folder / "reviews", train=200)

    def train(self, name: str, steps: int, *more: str) -> list[str]:
        """Return the words of a command that fine-tunes a small BERT."""
        data = self.folder / "reviews"
        words = ["classify", "train", str(data / "train.csv"), "--dev", str(data / "dev.csv")]
        words += ["--model", str(self.folder / "bert"), "--max-len", "16", "--batch-size", "20"]
        words += ["--length", f"{steps} steps", "--set", "training.threads=1"]
        words += ["--set", "training.log_every=1", "--set", "training.save_every=200"]
        return [*words, "--name", name, *more]

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command in the folder and return what it printed."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def attnlab(self, *words: str, code: int = 0) -> str:
        return self.run(sys.executable, "-m", "attnlab", *words, code=code)

    def submit(self, words: list[str], *more: str) -> str:
        """Submit a command and return the id of its job."""
        said = self.attnlab(*words, "--on", "slurm", *more)
        found = re.match(r"job (\d+) is submitted; its run is ", said)
        assert found, said
        return found[1]

    def job(self, job_id: str) -> dict[str, str]:
        """Return what Slurm knows of a job."""
        said = self.run("scontrol", "--oneliner", "show", "job", job_id)
        return dict(pair.partition("=")[::2] for pair in said.split() if "=" in pair)

    def until(self, look: Callable[[], T], what: str) -> T:
        """Wait for something to become true, and return it."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            if found := look():
                return found
            time.sleep(0.2)
        queue = self.run("squeue", "--states=all")
        logs = [f"{path}:\n{path.read_text()[-2000:]}" for path in self.folder.rglob("*.log")]
        raise AssertionError("\n".join([f"not within {LONGEST} seconds: {what}", queue, *logs]))

    def wait(self, name: str, code: int = 0) -> str:
        return self.attnlab("jobs", "wait", name, code=code)

    def steps(self, name: str) -> int:
        """Return how many steps a run has logged."""
        path = self.folder / "runs" / name / "metrics.jsonl"
        lines = path.read_text().splitlines()[:-1] if path.exists() else []  # the last may be half
        return json.loads(lines[-1])["step"] if lines else 0

    def processes(self, job_id: str, rank: int | None = None) -> list[int]:
        """Return the attnlab processes of a job on this host, which is all of its nodes."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes()
                variables = (entry / "environ").read_bytes().split(b"\0")
            except OSError:  # it has just ended
                continue
            is_it = b"attnlab" in command and f"SLURM_JOB_ID={job_id}".encode() in variables
            is_task = any(variable.startswith(b"SLURM_STEP_NODELIST=") for variable in variables)
            is_rank = rank is None or f"SLURM_PROCID={rank}".encode() in variables
            if is_it and is_task and is_rank:
                found.append(int(entry.name))
        return found

    def kill(self, job_id: str, rank: int = 0) -> None:
        """Kill the process of a rank, as the system does when memory runs out."""
        (pid,) = self.processes(job_id, rank)
        os.kill(pid, signal.SIGKILL)

    def preempt(self) -> None:
        """Take both nodes away from the jobs of spare, for a moment."""
        options = ["--partition=main", "--nodes=2", "--exclusive", "--output=/dev/null"]
        self.run("sbatch", "--wait", *options, "--wrap=sleep 1")

    def empty_the_queue(self) -> None:
        self.run("scancel", "--me")
        self.until(lambda: not self.run("squeue", "--me", "--noheader"), "an empty queue")


def outcome(run: Path) -> dict[str, Any]:
    """Return everything that must be equal bit for bit between two runs."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    tensors = sorted(run.glob("checkpoints/*/*.safetensors"))
    answers = sorted(run.glob("predictions/*.jsonl"))
    return {
        "metrics": [{k: v for k, v in line.items() if k not in TIMED} for line in lines],
        "files": {
            str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (*tensors, *answers)
        },
        "scores": json.loads((run / "record.json").read_text())["scores"],
    }
