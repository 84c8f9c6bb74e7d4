"""What to ask Slurm for, and what a cluster needs besides: flags, or a profile file."""

import re
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

from attnlab.config import Checked

TIME = re.compile(r"\d+(-\d+(:\d+){0,2}|(:\d+){0,2})")
WORD = re.compile(r"[\w.,:@/+=-]*")


def check_time(value: str) -> None:
    """Refuse what Slurm does not read as a time."""
    if value and not TIME.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a time: give MINUTES, HOURS:MINUTES:SECONDS or DAYS-HOURS"
        )


def check_word(value: str) -> None:
    """Refuse a name that could not stand in the script as it is."""
    if not WORD.fullmatch(value):
        raise ValueError(f"{value!r} is not a name: give one word, without spaces or quotes")


def check_lines(lines: tuple[str, ...]) -> None:
    """Refuse a line of the script that is several, or none."""
    for line in lines:
        if not line.strip() or not line.isprintable():
            raise ValueError(f"{line!r} is not one line of text")


Name = Annotated[str, Checked(check_word)]
Lines = Annotated[tuple[str, ...], Checked(check_lines)]


@dataclass(frozen=True)
class SlurmSettings:
    """What a job asks Slurm for."""

    partition: Name = ""
    """Slurm partition (queue). Without it, the cluster's default."""
    nodes: Annotated[int, Ge(1), Le(10_000)] = 1
    """Nodes that train one run together."""
    gpus: Annotated[int, Ge(0), Le(64)] = 0
    """GPUs on each node, with one process for each; 0 means one process on the CPU."""
    cpus: Annotated[int, Ge(1), Le(1024)] = 1
    """Cores for each process."""
    time: Annotated[str, Checked(check_time)] = ""
    """Time limit: 2:00:00, 1-12 (days and hours) or '90' (minutes). Without it, the partition's."""
    account: Name = ""
    """Account that pays for the time."""
    qos: Name = ""
    """Quality of service."""
    requeues: Annotated[int, Ge(0), Le(1000)] = 20
    """How often a job that is preempted or reaches its time limit goes on by itself."""
    save_seconds: Annotated[int, Ge(1), Le(3600)] = 120
    """Seconds before the time limit at which a run is told to save."""
    modules: Annotated[tuple[Name, ...], Checked(check_lines)] = ()
    """Environment modules to load."""
    setup: Lines = ()
    """Shell lines to run first, such as exports or the activation of an environment."""
    options: Lines = ()
    """Further options of sbatch, such as --mem=16G."""

    @property
    def tasks_per_node(self) -> int:
        """How many processes each node runs."""
        return max(1, self.gpus)
