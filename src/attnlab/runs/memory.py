"""Memory: what a size needs against what is free, compared before anything is allocated."""

import re

from attnlab.errors import NotEnoughMemoryError
from attnlab.runs.machine import free_memory_bytes

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
SIZES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    unit: 1 << 10 * power for power, unit in enumerate(UNITS) if 0 < power < 5
}
"""Units that a user may write, in bytes."""
_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([A-Za-z]+)", re.ASCII)


def need_memory(n_bytes: int, what: str, *, advice: str = "Choose a smaller one.") -> None:
    """Refuse what cannot fit into memory; ``what`` names it with the setting and its value."""
    free = free_memory_bytes()
    if free is not None and n_bytes > free:
        raise NotEnoughMemoryError(
            f"{what} needs about {written_bytes(n_bytes)} of memory, but {written_bytes(free)} are"
            f" free. {advice}"
        )


def read_bytes(text: str) -> int:
    """Read an amount of memory as settings check it, such as 2GB or 1.5 GiB; nothing is 0 bytes."""
    if not text:
        return 0
    found = _AMOUNT.fullmatch(text.strip())
    sizes = {unit.casefold(): size for unit, size in SIZES.items()}
    n_bytes = int(float(found[1]) * sizes.get(found[2].casefold(), 0)) if found else 0
    if not n_bytes:
        raise ValueError(
            f"give a number above 0 and one of {', '.join(SIZES)}, for example '2GB' or '800MiB'"
        )
    return n_bytes


def written_megabytes(n_bytes: int) -> str:
    """Write a number of bytes so that two of about a gigabyte differ."""
    return f"{n_bytes / 10**6:,.0f} MB"


def written_bytes(n_bytes: int) -> str:
    """Write a number of bytes in the unit that leaves less than 1024."""
    power = min((max(n_bytes, 1).bit_length() - 1) // 10, len(UNITS) - 1)
    amount = n_bytes * 10 >> 10 * power  # whole numbers: a float ends at 10^308
    if amount > 10_240:
        return f"more than 1,000 {UNITS[power]}"
    return f"{amount / 10:g} {UNITS[power]}"
