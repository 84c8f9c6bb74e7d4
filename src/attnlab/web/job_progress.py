"""How far a job is: its share, the time left, its curve, and what it printed last."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from attnlab.errors import UserError
from attnlab.report.run_list import run_state
from attnlab.runs.directory import Run
from attnlab.runs.lock import is_held
from attnlab.runs.study import STUDY, Study
from attnlab.web import live
from attnlab.web.children import Child, Children
from attnlab.web.words import in_form_words

LOG_BYTES, LOG_LINES = 4096, 12
CHANGING = ("*.json*", "*/*.json*")
"""Files of a run or study, and of a study's cells, that say how far they are."""
NOTHING: dict[str, Any] = {"progress": None, "share": None, "cell": None}


async def events(children: Children, name: str) -> AsyncIterator[str]:
    """Give what a job has come to, now and whenever it changes, until its process has ended."""
    before: Any = None
    while True:
        child = await run_in_threadpool(children.find, name)
        now = await run_in_threadpool(_look, child, children.root)
        if now != before:
            yield live.event("job", await run_in_threadpool(job_json, child, children.root))
        if not child.is_running:
            yield live.event("end", {"state": child.state})
            return
        before = now
        await asyncio.sleep(live.PAUSE)


def job_line(child: Child, root: Path) -> dict[str, Any]:
    """Return what a list of jobs shows of one."""
    path = root / child.name
    try:
        done = _of_study(path) if (path / STUDY).exists() else _of_run(path)
    except (UserError, FileNotFoundError):  # it is being made, or removed
        done = NOTHING
    said = child.ended.said if child.ended and child.state != "finished" else None
    line = {
        "name": child.name,
        "job": child.job,
        "state": child.state,
        "said": said and in_form_words(said),
    }
    return line | {"is_begun": path.exists(), **done}


def job_json(child: Child, root: Path) -> dict[str, Any]:
    """Return all that the page of a job shows."""
    line = job_line(child, root)
    return {**line, **_curves(root, line["cell"]), "log": log_end(child.started.log)}


def log_end(log: Path) -> list[str]:
    """Return the last lines of a log, however long it is."""
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_BYTES))
        text = file.read().decode("utf-8", "replace")
    return text.splitlines()[-LOG_LINES:]


def _look(child: Child, root: Path) -> tuple[Any, ...]:
    """Return what changes when a job gets further, without reading it."""
    path = root / child.name
    files = [child.started.log, *(file for pattern in CHANGING for file in path.glob(pattern))]
    held = [is_held(folder) for folder in (path, *path.glob("*/"))]
    return child.state, held, [_size_and_time(file) for file in files]


def _size_and_time(file: Path) -> tuple[str, int, int] | None:
    try:
        there = file.stat()
    except FileNotFoundError:  # it was replaced, or removed
        return None
    return str(file), there.st_size, there.st_mtime_ns


def _of_run(path: Path) -> dict[str, Any]:
    run = Run.open(path)
    steps = run.config["resolved"].get("steps")
    if run.finished or not steps:
        return {**NOTHING, "share": 1.0 if run.finished else None, "cell": path.name}
    logged = [line["step"] for line in run.metrics()]
    step = logged[-1] if logged else 0
    text = f"step {step:,} of {steps:,}"
    return {"progress": text, "share": step / steps, "cell": path.name}


def _of_study(path: Path) -> dict[str, Any]:
    """Every cell counts the same; of the one that is at work, the part that is done."""
    study, total = Study.open(path), len(Study.open(path).cells)
    if not total:
        return NOTHING
    begun = study.begun()
    done = sum(run.finished for run in begun)
    text = f"{done} of {total} cells"
    if done == total:
        return {"progress": text, "share": 1.0, "cell": None}
    unfinished = [run for run in begun if not run.finished]
    at_work = next((run for run in unfinished if run_state(run) == "running"), None)
    now = at_work or next(iter(unfinished), None)
    if now is None:
        return {"progress": text, "share": done / total, "cell": None}
    inner = _of_run(now.path)
    text += f"; {now.name}" + (f": {inner['progress']}" if inner["progress"] else "")
    share = (done + (inner["share"] or 0)) / total
    return {"progress": text, "share": share, "cell": f"{path.name}/{now.name}"}


def _curves(root: Path, name: str | None) -> dict[str, Any]:
    """Return the curves of the run that is at work; the time left is that of its training."""
    try:
        found = live.curves_json(root / name) if name else {}
    except (UserError, FileNotFoundError):
        found = {}
    return {"panels": found.get("panels", []), "seconds_left": found.get("seconds_left")}
