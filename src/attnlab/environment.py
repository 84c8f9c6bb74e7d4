"""Variables of the environment: what they hold is checked where it is read."""

import os

from attnlab.errors import UserError

DEBUG, QUIET = "ATTNLAB_DEBUG", "ATTNLAB_QUIET"
"""Set by ``--debug`` and ``--quiet``, so that started processes hear of them too."""
FAILURE = "ATTNLAB_FAILURE"
"""Set for a process that is started: the file in which it says how it failed."""
NO_USERS_CODE = "ATTNLAB_NO_USERS_CODE"
"""Set for a process that must run no file of a user's own code."""
WIDTHS = ("COLUMNS", "LINES")
MOST_COLUMNS = 10_000
MOST_PROCESSES = 1_000_000
LAST_PORT = 65_535
FROM_SRUN = {
    "WORLD_SIZE": "SLURM_STEP_NUM_TASKS",
    "RANK": "SLURM_PROCID",
    "LOCAL_RANK": "SLURM_LOCALID",
}
"""What torchrun calls the variables of srun. A batch script has SLURM_NTASKS too, but only srun
starts that many."""
FIRST_PORT, PORTS = 20_000, 10_000
"""Where the processes of a job meet: jobs that share a node have different ports."""


def is_on(variable: str) -> bool:
    """Return whether a switch is set to anything but 0."""
    return os.environ.get(variable, "") not in ("", "0")


def whole_number(variable: str, default: int, *, least: int, most: int) -> int:
    """Return the whole number that a variable holds, or the default if it is not set."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not _is_between(text, least, most):
        raise UserError(
            f"{variable}={text} is not possible: give a whole number from {least} to {most}, or"
            " unset it."
        )
    return int(text)


def world_size() -> int:
    """Return how many processes train together, as torchrun says."""
    return whole_number("WORLD_SIZE", 1, least=1, most=MOST_PROCESSES)


def process_rank() -> int:
    """Return the number torchrun gave this process; 0, the lead, writes to the terminal."""
    size = world_size()
    return 0 if size == 1 else whole_number("RANK", 0, least=0, most=size - 1)


def local_rank() -> int:
    """Return the number of this process among those of its machine."""
    return whole_number("LOCAL_RANK", 0, least=0, most=MOST_PROCESSES)


def local_world_size() -> int:
    """Return how many of the processes run on this machine; all, unless torchrun says less."""
    size = world_size()
    return whole_number("LOCAL_WORLD_SIZE", size, least=1, most=size)


def take_over_srun() -> None:
    """Give processes that srun started together the variables that torchrun would have set."""
    if "WORLD_SIZE" in os.environ:
        return
    size = whole_number("SLURM_STEP_NUM_TASKS", 1, least=1, most=MOST_PROCESSES)
    if size == 1:
        return
    known = {name: os.environ[theirs] for name, theirs in FROM_SRUN.items() if theirs in os.environ}
    os.environ.update(known)
    node = whole_number("SLURM_NODEID", 0, least=0, most=MOST_PROCESSES)
    here = tasks_on(node, os.environ.get("SLURM_STEP_TASKS_PER_NODE", ""))
    os.environ["LOCAL_WORLD_SIZE"] = str(here or size)
    job = whole_number("SLURM_JOB_ID", 0, least=0, most=2**32)
    os.environ.setdefault("MASTER_PORT", str(FIRST_PORT + job % PORTS))


def tasks_on(node: int, counts: str) -> int | None:
    """Return how many processes a node has; in ``2(x3),1``, node 2 has 2 and node 3 has 1."""
    import re  # here, so that a Ctrl-C soon after the start finds the guard in place

    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", counts):
        node -= int(times or 1)
        if node < 0:
            return int(count)
    return None


def check_environment() -> None:
    """Refuse what torchrun's variables cannot hold before anything relies on them."""
    process_rank()
    local_rank()
    local_world_size()
    if world_size() > 1:
        whole_number("MASTER_PORT", 0, least=0, most=LAST_PORT)


def unusable_widths() -> list[str]:
    """Unset widths of the terminal that are no widths; return them as ``NAME=value``."""
    wrong = [
        name
        for name in WIDTHS
        if (text := os.environ.get(name)) and not _is_between(text, 1, MOST_COLUMNS)
    ]
    return [f"{name}={os.environ.pop(name)}" for name in wrong]


def _is_between(text: str, least: int, most: int) -> bool:
    """Say so of decimal digits alone: int() takes more, such as 1_0, and fails on thousands."""
    digits = text.isascii() and text.isdecimal() and len(text.lstrip("0")) <= len(str(most))
    return digits and least <= int(text) <= most
