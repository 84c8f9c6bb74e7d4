"""Slurm's commands as calls, with a queue that a test can change: quick, and on any machine.

``tests/slurm/`` has the real one.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from attnlab.cluster.slurm import FIELDS, QueuedJob


@dataclass
class FakeSlurm:
    """What is in the queue, and what was asked."""

    jobs: list[QueuedJob] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)
    refusal: str = ""
    """What sbatch says instead of taking a job."""

    def run(self, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        self.asked.append(list(words))
        code, out, err = getattr(self, f"_{words[0]}")(list(words[1:]))
        return subprocess.CompletedProcess(words, code, out, err)

    def end(self, state: str = "COMPLETED") -> None:
        """Let every job end."""
        self.jobs = [replace(job, state=state) for job in self.jobs]

    def _sbatch(self, words: list[str]) -> tuple[int, str, str]:
        if self.refusal:
            return 1, "", self.refusal
        job_id = str(len({job.job_id.partition("_")[0] for job in self.jobs}) + 1)
        options = [
            line.removeprefix("#SBATCH --")
            for line in Path(words[-1]).read_text().splitlines()
            if line.startswith("#SBATCH --")
        ]
        values = dict(option.partition("=")[::2] for option in options)
        last = values.get("array", "").partition("%")[0].partition("-")[2]
        tasks = [f"{job_id}_{task}" for task in range(int(last) + 1)] if last else [job_id]
        name = values["job-name"].strip('"')
        self.jobs += [QueuedJob(task, name, "PENDING", 0, "Priority") for task in tasks]
        return 0, f"{job_id}\n", ""

    def _squeue(self, _: list[str]) -> tuple[int, str, str]:
        rows = [[j.job_id, j.state, str(j.restarts), j.reason, j.name] for j in self.jobs]
        lines = [
            "".join(text.ljust(width) for text, width in zip(row, FIELDS.values(), strict=True))
            for row in rows
        ]
        return 0, "\n".join(lines) + "\n", ""

    def _scancel(self, words: list[str]) -> tuple[int, str, str]:
        self.jobs = [
            replace(job, state="CANCELLED") if job.job_id.partition("_")[0] in words else job
            for job in self.jobs
        ]
        return 0, "", ""

    def _sinfo(self, _: list[str]) -> tuple[int, str, str]:
        return 0, "main 1:00:00\nspare infinite\n", ""


@pytest.fixture
def fake_slurm(monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    """Put the fake in the place of Slurm's commands."""
    fake = FakeSlurm()
    monkeypatch.setattr("attnlab.cluster.slurm._run", fake.run)
    monkeypatch.setattr("attnlab.cluster.slurm.is_here", lambda: True)
    return fake
