"""Writes what a benchmark measured to results/, with the command and the machine."""

import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attnlab.runs import machine
from attnlab.runs.directory import RECORD, Run
from attnlab.runs.files import replace_file, sha256_of, to_json

BEGAN = time.monotonic()
RESULTS = Path(__file__).parent.parent / "results"


def hashes(runs: Iterable[Run]) -> dict[str, str]:
    """Name runs with the SHA-256 of their records."""
    return {run.name: sha256_of(run.path / RECORD) for run in runs}


def write_result(
    name: str,
    *,
    claim: str,
    value: float,
    interval: list[float],
    details: dict[str, Any],
    runs: dict[str, str] | None = None,
    trained: float = 0.0,
) -> None:
    """Store one measured result as results/NAME.json and say where.

    ``runs`` maps the runs it was made from to the SHA-256 of their records, and ``trained`` is how
    many seconds they took: some may have been finished before this command was given again.
    """
    path = RESULTS / f"{name}.json"
    result = {
        "claim": claim,
        "value": value,
        "interval": interval,
        "details": details,
        "command": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "seconds": round(max(trained, time.monotonic() - BEGAN)),
        "runs": runs or {},
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
    }
    replace_file(path, to_json(result))
    print(f"written to {path.relative_to(RESULTS.parent)}")
