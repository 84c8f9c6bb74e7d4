"""The text of a batch script: a pure function of what is to run and what Slurm is asked for.

The script runs its command with srun, so that signals reach every process. Slurm's warning before
the time limit, or before preemption, lets a run save and end with 128 + the signal; the script then
puts its own job back into the queue, at most ``requeues`` times. A SIGTERM counts only if Slurm
says that the job is preempted: srun sends one, too, to the processes that are left when one has
failed. A job that scancel ends stays out: bash itself is ended by it, before it comes to that line.
"""

import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.cluster.settings import SlurmSettings

WARNING = signal.SIGUSR1
SAVED, ENDED = 128 + WARNING, 128 + signal.SIGTERM
"""Exit codes of a run that was warned, and of one that was told to end."""


@dataclass(frozen=True)
class Batch:
    """Command lines that become one job: a single one, or the tasks of an array."""

    name: str
    """Of the job."""
    commands: Sequence[Sequence[str]]
    log: Path
    """Where output goes, with Slurm's signs: %j is the job, %A_%a a task of an array."""
    settings: SlurmSettings
    at_once: int = 0
    """How many tasks of the array run at a time; 0 is as many as there is room for."""
    is_array: bool = False
    """Whether its command lines are the tasks of an array, even if there is one only."""


def script_of(batch: Batch) -> str:
    """Return the whole script."""
    parts = [
        "\n".join(["#!/bin/bash", *(f"#SBATCH {option}" for option in options_of(batch))]),
        _environment(batch.settings),
        _bound(batch.settings.requeues),
        _command(batch),
        _requeue(batch.settings.requeues),
    ]
    return "\n\n".join(parts) + "\n"


def options_of(batch: Batch) -> list[str]:
    """Return what sbatch is told."""
    asked, last = batch.settings, len(batch.commands) - 1
    at_once = f"%{batch.at_once}" if batch.at_once else ""
    chosen = {
        "partition": asked.partition,
        "account": asked.account,
        "qos": asked.qos,
        "time": asked.time,
        "gres": f"gpu:{asked.gpus}" if asked.gpus else "",
        "array": f"0-{last}{at_once}" if batch.is_array else "",
    }
    return [
        f"--job-name={_quoted(batch.name)}",
        f"--output={_quoted(str(batch.log))}",
        "--open-mode=append",
        f"--nodes={asked.nodes}",
        f"--ntasks-per-node={asked.tasks_per_node}",
        f"--cpus-per-task={asked.cpus}",
        *(f"--{name}={value}" for name, value in chosen.items() if value),
        "--requeue",
        f"--signal={WARNING.name.removeprefix('SIG')}@{asked.save_seconds}",
        *asked.options,
    ]


def _quoted(text: str) -> str:
    """Write a text as sbatch reads it from a script: between double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _environment(asked: SlurmSettings) -> str:
    loaded = [f"module load {shlex.quote(name)}" for name in asked.modules]
    threads = f'export OMP_NUM_THREADS="${{OMP_NUM_THREADS:-{asked.cpus}}}"'
    return "\n".join([*loaded, *asked.setup, threads])


def _bound(requeues: int) -> str:
    """Return what ends a job that Slurm itself puts back, after preemption, again and again."""
    return f"""\
restarts=${{SLURM_RESTART_COUNT:-0}}
echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, requeued $restarts of at most {requeues} times"
if [ "$restarts" -gt {requeues} ]; then
    echo "requeued too often: submit it again to go on"
    exit 1
fi"""


def _command(batch: Batch) -> str:
    """Return the lines that run the command, or that of the array's task."""
    srun = f"srun --kill-on-bad-exit=1 --cpus-per-task={batch.settings.cpus}"
    if not batch.is_array:
        return f"{srun} \\\n    {shlex.join(batch.commands[0])}\ncode=$?"
    tasks = "\n".join(
        f"    {number}) command=({shlex.join(words)}) ;;"
        for number, words in enumerate(batch.commands)
    )
    return f'case $SLURM_ARRAY_TASK_ID in\n{tasks}\nesac\n{srun} "${{command[@]}}"\ncode=$?'


def _requeue(requeues: int) -> str:
    return f"""\
is_preempted() {{
    scontrol --oneliner show job "$SLURM_JOB_ID" | grep -q 'PreemptTime=[0-9]'
}}
if [ $code = {SAVED} ] || {{ [ $code = {ENDED} ] && is_preempted; }}; then
    if [ "$restarts" -lt {requeues} ]; then
        echo "saved; job $SLURM_JOB_ID goes back into the queue"
        scontrol requeue "$SLURM_JOB_ID" && sleep 60  # until Slurm ends this script
    else
        echo "saved; requeued {requeues} times, which is the limit: submit it again to go on"
    fi
fi
exit $code"""
