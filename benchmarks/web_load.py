"""The page under load: fifty clients on the runs and five that ask, for a minute, on loopback.

    python benchmarks/web_load.py [--seconds 60] [--clients 50] [--asking 5]

Starts `attnlab serve` on a folder of made-up runs and one small language model. Prints the number
of answers and errors, the percentiles of the time to an answer, and the memory of the server; in
the second half of the time, when everything is loaded. Writes results/web_load.json.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from rich.console import Console

from attnlab.data.settings import WorldSettings
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.closing import Splits, close_run
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.predictions import prediction_row
from attnlab.training.settings import TrainingSettings
from measure import write_result

RUNS, ROWS = 40, 500
PERCENTILES = (50, 95, 99, 100)
MODEL = "gpt"
Seen = list[tuple[float, str]]
"""Seconds to an answer, and its status."""


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


def write_model(root: Path) -> list[str]:
    """Train a small language model, and return questions to it."""
    world = WorldSettings(people=200, biographies=1)
    quiet = Console(quiet=True)
    find_job("knowledge-world").run(world, place=RunPlace(root, "world"), console=quiet)
    settings = PretrainSettings(
        corpus=str(root / "world" / "wiki.txt"),
        questions=str(root / "world" / "birth_places_train.tsv"),
        dev=str(root / "world" / "birth_dev.tsv"),
        model=ModelSettings(64, 4, 2),
        training=TrainingSettings(length="20 steps", threads=1),
    )
    job = find_job("knowledge-pretrain")
    run = job.run(settings, place=RunPlace(root, MODEL), console=quiet)
    return [row["input"] for row in run.predictions("dev")]


@dataclass(frozen=True)
class Server:
    """Where the page is, and the secret that a question needs."""

    base: str
    token: str
    names: list[str]
    questions: list[str]

    def pages(self) -> list[httpx.Request]:
        """Return a request for every page of the runs."""
        names = self.names
        paths = ["", "api/runs", *(f"api/runs/detail?name={name}" for name in names),
                 *(f"api/runs/answers?name={name}&split=dev" for name in names),
                 f"api/runs/compare?run={names[0]}&run={names[1]}"]  # fmt: skip
        return [httpx.Request("GET", f"{self.base}{path}") for path in paths]

    def asked(self) -> list[httpx.Request]:
        """Return a request for every question; there are more than the server remembers."""
        headers = {"Origin": self.base.rstrip("/"), "X-Attnlab-Token": self.token}
        bodies = [{"run": MODEL, "question": question} for question in self.questions]
        address = f"{self.base}api/ask"
        return [httpx.Request("POST", address, headers=headers, json=body) for body in bodies]


async def client(requests: list[httpx.Request], end: float, seen: Seen) -> None:
    """Make one request after the other until the time is over."""
    # the address is plain HTTP, and reading certificates would take longer than asking
    async with httpx.AsyncClient(timeout=30, verify=False) as asking:
        for request in cycle(requests):
            if time.monotonic() > end:
                return
            began = time.monotonic()
            try:
                outcome = str((await asking.send(request)).status_code)
            except httpx.HTTPError as error:
                outcome = type(error).__name__
            seen.append((time.monotonic() - began, outcome))


async def load(server: Server, counts: dict[str, int], seconds: float) -> dict[str, Seen]:
    """Let so many clients of each kind ask at the same time, each in an order of its own."""
    kinds = {"runs": server.pages(), "ask": server.asked()}
    seen: dict[str, Seen] = {kind: [] for kind in kinds}
    end = time.monotonic() + seconds
    clients = [
        client(turned(requests, i * len(requests) // count), end, seen[kind])
        for kind, requests in kinds.items()
        for count in [max(1, counts[kind])]
        for i in range(counts[kind])
    ]
    await asyncio.gather(*clients)
    return seen


def turned(requests: list[httpx.Request], by: int) -> list[httpx.Request]:
    """Return the same requests, beginning elsewhere."""
    return requests[by:] + requests[:by]


def measured(seen: Seen) -> dict[str, Any]:
    """Sum up what the clients saw."""
    times = 1000 * np.array([seconds for seconds, _ in seen])
    outcomes = Counter(outcome for _, outcome in seen)
    return {
        "answers": len(seen),
        "errors": len(seen) - outcomes["200"],
        "outcomes": dict(outcomes),
        "milliseconds": {f"p{p}": round(float(np.percentile(times, p)), 1) for p in PERCENTILES},
    }


@contextmanager
def serving(root: Path) -> Iterator[tuple[subprocess.Popen[str], Server, float]]:
    """Serve made-up runs; return the process, its address, and how long it took to be ready."""
    names, questions = write_runs(root), write_model(root)
    command = [sys.executable, "-m", "attnlab", "serve", "--port", "0", "--no-open"]
    began = time.monotonic()
    process = subprocess.Popen([*command, "--runs", str(root)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip().removeprefix("attnlab is at ")
        base, _, token = address.partition("?token=")
        httpx.get(f"{base}api/runs", timeout=30)
        yield process, Server(base, token, names, questions), time.monotonic() - began
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Serve, ask, and write down what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--asking", type=int, default=5)
    given = parser.parse_args()
    counts = {"runs": given.clients, "ask": given.asking}
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "runs") as (process, server, ready),
    ):
        memory = {"start": memory_mib(process.pid)}
        asyncio.run(load(server, counts, given.seconds / 2))
        memory["half"] = memory_mib(process.pid)
        seen = asyncio.run(load(server, counts, given.seconds / 2))
        memory["end"] = memory_mib(process.pid)
    found: dict[str, Any] = {kind: measured(some) for kind, some in seen.items() if some}
    found |= {"clients": counts, "seconds": given.seconds, "ready_seconds": round(ready, 2)}
    found["memory_mib"] = {when: round(mib) for when, mib in memory.items()}
    print(found)
    times = found["runs"]["milliseconds"]
    write_result(
        "web_load",
        claim="95 % of answers on the runs pages take at most so many milliseconds",
        value=times["p95"],
        interval=[times["p50"], times["p99"]],
        details=found,
    )


if __name__ == "__main__":
    main()
