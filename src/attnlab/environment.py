"""Variables of the environment: what they hold is checked where it is read."""

import os

from attnlab.errors import UserError

DEBUG, QUIET = "ATTNLAB_DEBUG", "ATTNLAB_QUIET"
"""Set by ``--debug`` and ``--quiet``, so that started processes hear of them too."""
FAILURE = "ATTNLAB_FAILURE"
"""Set for a process that is started: the file in which it says how it failed."""
WIDTHS = ("COLUMNS", "LINES")
MOST_COLUMNS = 10_000
MOST_PROCESSES = 1_000_000
LAST_PORT = 65_535


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
