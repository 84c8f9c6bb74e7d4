"""The machine a result was measured on: versions, processor, threads, disk, commit."""

import importlib.metadata
import os
import platform
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = ("attnlab", "torch", "numpy", "scipy", "safetensors", "transformers", "peft")
CPU_FEATURES = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "bf16", "sve")

PROC = Path("/proc")
MEMINFO, VMSTAT = PROC / "meminfo", PROC / "vmstat"
CGROUP, OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
CGROUP_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Limit and use of a group's memory, in both versions of Linux's groups."""


@cache
def versions() -> dict[str, str]:
    """Return the version of each package that can move a number and is installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def cpu() -> dict[str, Any]:
    """Return the processor's name, its vector units and the cores this process may use."""
    name, flags = platform.processor() or platform.machine(), set[str]()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            key, _, value = (part.strip() for part in line.partition(":"))
            if key == "model name":
                name = value
            elif key in ("flags", "Features"):
                flags = set(value.split())
                break
    return {"name": name, "features": [f for f in CPU_FEATURES if f in flags], "cores": cores()}


def cores() -> int:
    """Count the cores this process may run on, which a cluster may set below the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> int | None:
    """Return the machine's memory, where the operating system says it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def free_memory_bytes() -> int | None:
    """Return the memory that this process can still take, where the operating system says it.

    A container or a cluster's job may allow less than the machine has.
    """
    found = _meminfo().get("MemAvailable", memory_bytes())
    rooms = [] if found is None else [found]
    for folder in _cgroups():
        for limit, used in CGROUP_FILES:
            try:
                rooms.append(int((folder / limit).read_text()) - int((folder / used).read_text()))
            except (OSError, ValueError):  # no such group, or "max": no limit
                continue
    return max(0, min(rooms)) if rooms else None


def peak_memory_bytes(process: int | str = "self") -> int | None:
    """Return the most memory that a process has held so far, where the operating system says it."""
    try:
        status = (PROC / str(process) / "status").read_text(encoding="utf-8")
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):  # another system, or a process that is over
        return None


def memory_kills() -> int | None:
    """Return how many processes this machine has killed for want of memory, where it counts."""
    try:
        counts = dict(line.split() for line in VMSTAT.read_text(encoding="utf-8").splitlines())
        return int(counts["oom_kill"])
    except (OSError, ValueError, KeyError):
        return None


def _cgroups() -> list[Path]:
    """Return the folders of the groups that limit this process; a container sees only the root."""
    folders = [CGROUP, CGROUP / "memory"]
    try:
        lines = OWN_CGROUP.read_text(encoding="utf-8").splitlines()
    except OSError:
        return folders
    for line in lines:
        _, kinds, own = line.split(":", 2)
        if kinds in ("", "memory"):
            own_folder = CGROUP / kinds / own.strip("/")
            folders += [own_folder, *own_folder.parents]
    return [folder for folder in dict.fromkeys(folders) if folder.is_relative_to(CGROUP)]


def _meminfo() -> dict[str, int]:
    """Read what Linux says of the memory, in bytes."""
    try:
        lines = MEMINFO.read_text(encoding="utf-8").splitlines()
        return {key: int(value.split()[0]) * 1024 for key, value in (x.split(":") for x in lines)}
    except (OSError, ValueError, IndexError):
        return {}


def free_disk_bytes(folder: Path) -> int:
    """Return the room left on the disk that holds ``folder``, which need not exist yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


@cache
def commit() -> str | None:
    """Return the commit of the checkout that attnlab runs from, with ``+`` if it was changed."""
    request = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+"]
    try:
        text = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *request],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return text or None


def describe() -> dict[str, Any]:
    """Return everything about this machine and this process that belongs into a record."""
    return {
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "versions": versions(),
        "cpu": cpu(),
        "platform": platform.platform(),
        "commit": commit(),
    }
