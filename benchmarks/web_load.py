"""The runs pages under load: fifty clients at once for a minute, on loopback.

    python benchmarks/web_load.py [--seconds 60] [--clients 50]

Starts `attnlab serve` on a folder of made-up runs. Prints the number of answers and errors, the
percentiles of the time to an answer, and the memory of the server; writes results/web_load.json.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from attnlab.recipes.closing import Splits, close_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.predictions import prediction_row
from measure import write_result

RUNS, ROWS = 40, 500
PERCENTILES = (50, 95, 99, 100)


def write_runs(root: Path) -> list[str]:
    """Write finished classifiers, and return their names."""
    names = [f"run-{number:02d}" for number in range(RUNS)]
    for number, name in enumerate(names):
        run = Run.begin("classify-train", {"seed": number}, RunPlace(root, name))
        rows = []
        for i in range(ROWS):
            gold, told = ("yes", "no")[i % 2], ("yes", "no")[(i + (i % 7 < number % 5)) % 2]
            likely = {told: 0.75, ("yes", "no")[told == "yes"]: 0.25}
            rows.append(
                prediction_row(
                    f"{i}",
                    f"text {i}",
                    gold=gold,
                    prediction=told,
                    confidence=0.75,
                    probabilities=likely,
                )
            )
        splits = Splits({"dev": [{"text": row["input"]} for row in rows]}, inputs=["text"])
        close_run(run, {"dev": rows}, splits=splits, classes=["yes", "no"])
    return names


def memory_mib(process: int) -> float:
    """Return the memory that a process holds."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    kib = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return int(kib) / 1024


async def client(base: str, paths: list[str], end: float, seen: list[tuple[float, str]]) -> None:
    """Ask for one page after the other until the time is over."""
    # the address is plain HTTP, and reading certificates would take longer than asking
    async with httpx.AsyncClient(base_url=base, timeout=30, verify=False) as asking:
        for path in cycle(paths):
            if time.monotonic() > end:
                return
            began = time.monotonic()
            try:
                outcome = str((await asking.get(path)).status_code)
            except httpx.HTTPError as error:
                outcome = type(error).__name__
            seen.append((time.monotonic() - began, outcome))


async def load(
    base: str, names: list[str], clients: int, seconds: float
) -> list[tuple[float, str]]:
    """Let so many clients ask at the same time, each in an order of its own."""
    seen: list[tuple[float, str]] = []
    pages = ["/", "/api/runs", *(f"/api/runs/detail?name={name}" for name in names),
             *(f"/api/runs/answers?name={name}&split=dev" for name in names),
             f"/api/runs/compare?run={names[0]}&run={names[1]}"]  # fmt: skip
    end = time.monotonic() + seconds
    shifted = [pages[i % len(pages) :] + pages[: i % len(pages)] for i in range(clients)]
    await asyncio.gather(*(client(base, paths, end, seen) for paths in shifted))
    return seen


def measured(seen: list[tuple[float, str]]) -> dict[str, Any]:
    """Sum up what the clients saw."""
    times = 1000 * np.array([seconds for seconds, _ in seen])
    outcomes = Counter(outcome for _, outcome in seen)
    return {
        "answers": len(seen),
        "errors": len(seen) - outcomes["200"],
        "outcomes": dict(outcomes),
        "milliseconds": {f"p{p}": round(float(np.percentile(times, p)), 1) for p in PERCENTILES},
    }


def main() -> None:
    """Serve, ask, and write down what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = write_runs(Path(folder) / "runs")
        command = [sys.executable, "-m", "attnlab", "serve", "--port", "0", "--no-open"]
        began = time.monotonic()
        server = subprocess.Popen(
            [*command, "--runs", f"{folder}/runs"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            base = server.stdout.readline().removeprefix("attnlab is at ").partition("?")[0]
            httpx.get(f"{base}api/runs", timeout=30)
            ready = time.monotonic() - began
            before = memory_mib(server.pid)
            asyncio.run(load(base, names, asked.clients, asked.seconds / 2))
            half = memory_mib(server.pid)
            found = measured(asyncio.run(load(base, names, asked.clients, asked.seconds / 2)))
            after = memory_mib(server.pid)
        finally:
            server.terminate()
            server.wait()
    found |= {"clients": asked.clients, "seconds": asked.seconds, "ready_seconds": round(ready, 2)}
    found["memory_mib"] = {"start": round(before), "half": round(half), "end": round(after)}
    print(found)
    p95 = found["milliseconds"]["p95"]
    write_result(
        "web_load",
        claim="95 % of answers on the runs pages take at most so many milliseconds",
        value=p95,
        interval=[found["milliseconds"]["p50"], found["milliseconds"]["p99"]],
        details=found,
    )


if __name__ == "__main__":
    main()
