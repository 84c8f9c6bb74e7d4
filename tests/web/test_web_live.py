"""Curves while a run trains, and work that requests wait for."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from served import grow, with_log

from attnlab.errors import BusyError
from attnlab.report.curve_series import averaged, curve_panels
from attnlab.web import live
from attnlab.web import queue as queues
from attnlab.web.queue import Queue


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PAUSE", 0.01)


async def next_of(stream: AsyncIterator[str]) -> tuple[str, dict[str, Any]]:
    first, second = (await asyncio.wait_for(anext(stream), 20)).strip().split("\n")
    return first.removeprefix("event: "), json.loads(second.removeprefix("data: "))


def n_points(data: dict[str, Any]) -> int:
    return len(data["panels"][0]["series"]["train"])


def test_curves_grow_until_the_run_is_let_go(tmp_path: Path) -> None:
    run, log = with_log(tmp_path, "training", lines=3)

    async def watch() -> None:
        stream = live.events(run.path)
        with run:
            name, data = await next_of(stream)
            assert (name, data["state"], n_points(data)) == ("curves", "running", 3)
            grow(log, range(4, 8))
            name, data = await next_of(stream)
            assert (name, data["progress"], n_points(data)) == ("curves", "step 7 of 200", 7)
        name, data = await next_of(stream)
        assert (name, data["state"]) == ("curves", "stopped")
        assert await next_of(stream) == ("end", {"state": "stopped"})
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(watch())


def test_a_run_that_is_removed_or_damaged_ends_the_stream_in_words(tmp_path: Path) -> None:
    run, _ = with_log(tmp_path, "training", lines=3)

    async def watch() -> None:
        with run:
            stream = live.events(run.path)
            await next_of(stream)
            (run.path / "metrics.jsonl").write_text("{}\n")
            name, data = await next_of(stream)
            assert (name, "lacks step" in data["error"]) == ("problem", True)
            stream = live.events(run.path)
            shutil.rmtree(run.path)
            name, data = await next_of(stream)
            assert (name, "there is no run 'training'" in data["error"]) == ("problem", True)

    asyncio.run(watch())


def test_the_stream_of_a_finished_run_ends_at_once(client: TestClient) -> None:
    answer = client.get("/api/runs/events", params={"name": "stopped"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [line for line in answer.text.split("\n") if line.startswith("event")] == [
        "event: curves",
        "event: end",
    ]


def test_a_long_log_is_averaged_and_keeps_its_mean() -> None:
    lines = [{"step": i, "loss": float(i % 7)} for i in range(1, 10_001)]
    (panel,) = curve_panels(lines)
    drawn = panel.series["train"]
    assert len(drawn) == 400
    mean = sum(line["loss"] for line in lines) / len(lines)
    assert sum(y for _, y in drawn) / 400 == pytest.approx(mean)
    assert averaged([(1.0, 2.0), (2.0, 3.0)]) == [(1.0, 2.0), (2.0, 3.0)]


def test_work_is_done_once_one_at_a_time_and_the_latest_is_kept() -> None:
    done: list[str] = []
    running = [0]

    def compute(name: str) -> str:
        running[0] += 1
        assert running[0] == 1
        done.append(name)
        running[0] -= 1
        return name.upper()

    async def ask() -> None:
        queue = Queue()
        names = ["a", "b", "a", "c", "a"]
        found = await asyncio.gather(*(queue.result(n, lambda n=n: compute(n)) for n in names))
        assert found == ["A", "B", "A", "C", "A"]
        assert done == ["a", "b", "c"]
        await queue.result("a", lambda: compute("a"), lasts=-1)
        for i in range(queues.MOST_KEPT):
            await queue.result(i, lambda: None)
        await queue.result("a", lambda: compute("a"))
        assert done == ["a", "b", "c", "a", "a"]

    asyncio.run(ask())


def test_a_full_queue_and_a_failure_leave_room_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails() -> None:
        raise ValueError("once")

    async def ask() -> None:
        queue = Queue()
        with pytest.raises(ValueError, match="once"):
            await queue.result("a", fails)
        monkeypatch.setattr(queues, "MOST_WAITING", 0)
        with pytest.raises(BusyError, match="the server is busy"):
            await queue.result("a", fails)
        monkeypatch.setattr(queues, "MOST_WAITING", 1)
        assert await queue.result("a", lambda: 1) == 1

    asyncio.run(ask())


ASK = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from attnlab.web.app import create_app
from attnlab.web.settings import WebSettings

app = create_app(WebSettings(runs=Path(sys.argv[1])))
assert TestClient(app, base_url="http://127.0.0.1").get(sys.argv[2]).status_code == 200
print("loaded", *(name for name in sys.argv[3:] if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("path", "heavy"),
    [
        pytest.param("/api/runs", ["numpy", "torch"], id="list"),
        pytest.param("/api/jobs", ["numpy", "torch"], id="jobs"),
        pytest.param(
            "/api/jobs/form?job=classify-compare",
            ["numpy", "torch"],
            id="form",
            marks=pytest.mark.slow,
        ),
        pytest.param("/api/runs/detail?name=classes", ["torch"], id="run", marks=pytest.mark.slow),
    ],
)
def test_a_page_loads_nothing_heavy(root: Path, path: str, heavy: list[str]) -> None:
    command = [sys.executable, "-c", ASK, str(root), path, *heavy]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "loaded\n", done.stderr
