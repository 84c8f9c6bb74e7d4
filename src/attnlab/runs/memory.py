"""Memory: what a size needs against what is free, compared before anything is allocated."""

from attnlab.errors import UserError
from attnlab.runs.machine import free_memory_bytes

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def need_memory(n_bytes: int, what: str) -> None:
    """Refuse what cannot fit into memory; ``what`` names it with the setting and its value."""
    free = free_memory_bytes()
    if free is not None and n_bytes > free:
        raise UserError(
            f"{what} needs about {written_bytes(n_bytes)} of memory, but {written_bytes(free)} are"
            " free. Choose a smaller one."
        )


def written_bytes(n_bytes: int) -> str:
    """Write a number of bytes in the unit that leaves less than 1024."""
    power = min((max(n_bytes, 1).bit_length() - 1) // 10, len(UNITS) - 1)
    amount = n_bytes * 10 >> 10 * power  # whole numbers: a float ends at 10^308
    if amount > 10_240:
        return f"more than 1,000 {UNITS[power]}"
    return f"{amount / 10:g} {UNITS[power]}"
