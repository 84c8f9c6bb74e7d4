"""``attnlab doctor``: what this machine is, and what is missing."""

import os
import shutil
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from attnlab.cli.options import AsJson, RunsFolder
from attnlab.cli.show import print_json, say_next

EXAMPLE = "Example: attnlab doctor --json"
HUB_SECONDS = 2.0
PRECISIONS = ("float32", "bfloat16")
"""What ATTNLAB_PRECISION may be."""


def doctor(runs: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """Show what this machine has: versions, processor, threads, disk, hub, Slurm."""
    from attnlab.runs import machine

    memory = machine.memory_bytes()
    found: dict[str, Any] = {
        "versions": machine.versions(),
        "cpu": machine.cpu(),
        "memory_gib": round(memory / 2**30, 1) if memory else None,
        "threads": {key: value for key, value in os.environ.items() if key.endswith("NUM_THREADS")},
        "disk_free_gib": round(machine.free_disk_bytes(runs.resolve()) / 2**30, 1),
        "hub": _hub(),
        "slurm": shutil.which("sbatch"),
        "precision": os.environ.get("ATTNLAB_PRECISION"),
    }
    if as_json:
        print_json(found)
        return
    cpu = found["cpu"]
    fast = {"avx512_bf16", "amx_bf16"} & set(cpu["features"])
    lines = {
        "versions": ", ".join(f"{name} {v}" for name, v in found["versions"].items()),
        "processor": f"{cpu['name']}, {cpu['cores']} cores, {', '.join(cpu['features']) or '–'}",
        "bfloat16": _bfloat16(is_native=bool(fast)),
        "threads": ", ".join(f"{k}={v}" for k, v in found["threads"].items())
        or f"{cpu['cores']} (no *_NUM_THREADS is set)",
        "memory": f"{found['memory_gib']} GiB" if memory else "unknown",
        "disk": f"{found['disk_free_gib']} GiB free for {runs}",
        "hub": found["hub"],
        "slurm": found["slurm"] or "no sbatch on the PATH",
    }
    for name, text in lines.items():
        typer.echo(f"{name:<10} {text}")
    say_next("attnlab knowledge demo")


def _bfloat16(*, is_native: bool) -> str:
    """Say what `precision: auto` comes to."""
    asked = os.environ.get("ATTNLAB_PRECISION")
    if asked and asked not in PRECISIONS:
        return f"ATTNLAB_PRECISION={asked} is not allowed: give {' or '.join(PRECISIONS)}"
    if asked:
        return f"{'native' if is_native else 'emulated'}: ATTNLAB_PRECISION makes auto {asked}"
    return "native: precision auto takes it" if is_native else "emulated: auto takes float32"


def _hub() -> str:
    """Say whether the model hub can be reached."""
    address = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("0", ""):
        return "offline by HF_HUB_OFFLINE"
    try:
        parts = urlsplit(address)
        port = parts.port or (80 if parts.scheme == "http" else 443)
        socket.create_connection((parts.hostname or "", port), timeout=HUB_SECONDS).close()
    except (OSError, ValueError) as error:
        return f"{address} cannot be reached ({error})"
    return f"{address} can be reached"
