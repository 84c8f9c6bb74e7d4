"""Slurm's own commands: submit a script, look at the queue, cancel. Their words become ours."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from attnlab.errors import RunError, UserError

PATIENCE = 60
"""Seconds that a command of Slurm's may take."""
OUT_OF_MEMORY = "OUT_OF_MEMORY"
"""The state of a job that Slurm has killed for want of memory."""
OVER = {
    *("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"),
    *("DEADLINE", OUT_OF_MEMORY, "REVOKED", "SPECIAL_EXIT"),
}
"""States of a job that has ended for good."""
FIELDS = {"JobArrayID": 60, "State": 30, "RestartCnt": 12, "Reason": 60, "Name": 300}
"""What squeue is asked for, with the width of each column. It counts bytes, and we characters, so
that what may have other letters is the last."""
ADVICE = {
    "account": "Choose another --account, or a --partition that it may use: {partitions}.",
    "partition": "Choose another --partition: {partitions}.",
    "time limit": "Choose another --time: {partitions}.",
    "qos": "Choose another --qos; your cluster's manual names yours.",
    "node": "Ask for fewer --nodes, --gpus or --cpus; `sinfo -N -l` shows what the nodes have.",
    "array": "There are more cells than MaxArraySize in `scontrol show config` allows.",
}
"""What to change, by a word of the refusal; the first that fits counts."""


@dataclass(frozen=True)
class QueuedJob:
    """A job, or a task of an array, as the queue has it."""

    job_id: str
    """Such as 12, or 12_3 for a task of an array."""
    name: str
    state: str
    restarts: int
    reason: str
    """Why it waits."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good."""
        return self.state in OVER


def is_here() -> bool:
    """Say whether this machine has Slurm's commands."""
    return shutil.which("squeue") is not None


def submit(script: Path, *, after: Sequence[str] = ()) -> str:
    """Submit a script, to run when other jobs have ended; return the id of its job."""
    options = [f"--dependency=afterany:{':'.join(after)}"] if after else []
    done = _run(["sbatch", "--parsable", *options, str(script)])
    if done.returncode:
        raise _refusal(script, _words(done.stderr))
    return done.stdout.strip().partition(";")[0]  # a federation adds the cluster's name


def queue() -> list[QueuedJob]:
    """Return the user's jobs, those included that have ended not long ago."""
    columns = ",".join(f"{name}:{width}" for name, width in FIELDS.items())
    options = ["--me", "--array", "--states=all", "--noheader", f"--Format={columns}"]
    found = []
    for line in _answer(["squeue", *options]).splitlines():
        ends = [0, *accumulate(FIELDS.values())]
        texts = [line[start:end].strip() for start, end in pairwise(ends)]
        job_id, state, restarts, reason, name = texts
        found.append(QueuedJob(job_id, name, state, int(restarts or 0), reason))
    return found


def cancel(job_ids: Sequence[str]) -> None:
    """End jobs, and take those that wait out of the queue."""
    _answer(["scancel", *job_ids])


def partitions() -> str:
    """Say which partitions there are, and how long a job may take there."""
    lines = _answer(["sinfo", "--noheader", "--format=%R %l"]).splitlines()
    pairs = dict(line.split(maxsplit=1) for line in lines if line.strip())
    return ", ".join(f"{name} (at most {limit.strip()})" for name, limit in pairs.items())


def _answer(words: Sequence[str]) -> str:
    done = _run(words)
    if done.returncode:
        raise RunError(f"{words[0]} failed: {_words(done.stderr)}")
    return done.stdout


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    # what Slurm has told the job that we may be in is not meant for another job
    ours = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_") or k == "SLURM_CONF"}
    try:
        return subprocess.run(
            words, capture_output=True, text=True, errors="replace", env=ours, timeout=PATIENCE
        )
    except FileNotFoundError:
        raise UserError(
            f"there is no {words[0]} on the PATH: this machine has no Slurm. Log in to your cluster"
            " first, or leave --on slurm out to run here."
        ) from None
    except subprocess.TimeoutExpired:
        raise RunError(f"{words[0]} has not answered for {PATIENCE} seconds. Try again.") from None


def _words(error: str) -> str:
    """Return what a command of Slurm's says, without its own name before each line."""
    lines = [line.split("error: ", 1)[-1].strip() for line in error.splitlines() if line.strip()]
    return "; ".join(lines) or "it said nothing"


def _refusal(script: Path, words: str) -> UserError:
    text = f"Slurm refuses {script}: {words.removesuffix('.')}."
    known = (advice for word, advice in ADVICE.items() if word in words.lower())
    advice = next(known, "The script can be changed and submitted with sbatch.")
    if "{partitions}" in advice:
        advice = advice.format(partitions=partitions())
    return UserError(f"{text} {advice}")
