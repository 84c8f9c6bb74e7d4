"""A run while it trains: its curves as server-sent events, whenever its log has grown."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from attnlab.errors import UserError
from attnlab.report.curve_series import curve_panels
from attnlab.report.pace import seconds_left
from attnlab.report.run_list import RUNNING, progress, run_state
from attnlab.runs.directory import METRICS, Run
from attnlab.web.words import in_form_words

PAUSE = 0.5
"""Seconds between two looks at a log."""


async def events(path: Path) -> AsyncIterator[str]:
    """Give the curves now and whenever they change, until no process works on the run any more."""
    before: Any = None
    while True:
        try:
            now = await run_in_threadpool(_look, path)
            if now != before:
                yield event("curves", await run_in_threadpool(curves_json, path))
        except (UserError, FileNotFoundError) as error:
            yield event("problem", {"error": _in_words(error, path)})
            return
        before = now
        if now[0] != RUNNING:
            yield event("end", {"state": now[0]})
            return
        await asyncio.sleep(PAUSE)


def curves_json(path: Path) -> dict[str, Any]:
    """Return how far a run is, and what there is to draw of it."""
    run = Run.open(path)
    lines = run.metrics()
    return {
        "state": run_state(run),
        "progress": None if run.finished else progress(run),
        "seconds_left": seconds_left(lines, run.config["resolved"].get("steps")),
        "panels": [asdict(panel) for panel in curve_panels(lines)],
    }


def _look(path: Path) -> tuple[str, int, int]:
    """Return the state of a run, and what changes when its log does."""
    run, log = Run.open(path), path / METRICS
    there = log.stat() if log.exists() else None
    size, time = (there.st_size, there.st_mtime_ns) if there else (0, 0)
    return run_state(run), size, time


def _in_words(error: Exception, path: Path) -> str:
    if isinstance(error, UserError):
        return in_form_words(str(error))
    return f"the run {path.name} was removed."


def event(name: str, data: dict[str, Any]) -> str:
    """Write a server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"
