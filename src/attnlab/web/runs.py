"""The views of runs: the list, one run or study, its answers, its curves, and a comparison."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from attnlab.errors import UserError
from attnlab.web import live, pages
from attnlab.web.inside import run_folder
from attnlab.web.listing import list_json
from attnlab.web.queue import Queue
from attnlab.web.settings import settings_of

LIST_LASTS = 1.0
"""Seconds: however many look at the list, its files are read once in that time."""
MOST_COMPARED = 50
MOST_ANSWERS = 200

router = APIRouter(prefix="/api/runs")


def queues_of(request: Request) -> dict[str, Queue]:
    """Return the queues of the server: a long comparison must not keep a run's page waiting."""
    queues: dict[str, Queue] = request.app.state.queues
    return queues


def named(request: Request, name: Annotated[str, Query(max_length=500)]) -> Path:
    """Return the folder of the run or study that a request names."""
    return run_folder(name, settings_of(request).runs)


Queues = Annotated[dict[str, Queue], Depends(queues_of)]
Named = Annotated[Path, Depends(named)]


@router.get("")
async def list_(request: Request, queues: Queues) -> Any:
    """List the runs and studies, the newest first."""
    root = settings_of(request).runs
    return await queues["list"].result("list", lambda: list_json(root), lasts=LIST_LASTS)


@router.get("/detail")
async def detail(request: Request, path: Named, queues: Queues) -> Any:
    """Show a run, or a study with its cells."""
    head = await run_in_threadpool(pages.head, path, settings_of(request).runs)
    key = await run_in_threadpool(pages.signature, path)
    queue = queues["long" if pages.is_study(path) else "run"]
    return head | await queue.result(key, lambda: pages.body(path))


@router.get("/answers")
def answers(
    path: Named,
    split: Annotated[str, Query(max_length=100)],
    only_wrong: bool = False,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
    count: Annotated[int, Query(ge=1, le=MOST_ANSWERS)] = 20,
) -> Any:
    """Show stored predictions of a run."""
    if split not in (file.stem for file in path.glob("predictions/*.jsonl")):
        raise UserError(f"the run {path.name} has no predictions on {split!r}.")
    return pages.answers(path, split, only_wrong=only_wrong, start=start, count=count)


@router.get("/events")
async def events(path: Named) -> StreamingResponse:
    """Send the curves of a run whenever they grow, as server-sent events."""
    return StreamingResponse(live.events(path), media_type="text/event-stream")


def several(
    request: Request, run: Annotated[list[str], Query(min_length=2, max_length=MOST_COMPARED)]
) -> list[Path]:
    """Return the folders of the runs that a request names."""
    return [run_folder(name, settings_of(request).runs) for name in run]


@router.get("/compare")
async def compare(
    paths: Annotated[list[Path], Depends(several)],
    queues: Queues,
    split: Annotated[str | None, Query(max_length=100)] = None,
    metric: Annotated[str | None, Query(max_length=100)] = None,
) -> Any:
    """Compare runs on the same examples, with the verdicts of `attnlab runs compare`."""
    files = await run_in_threadpool(lambda: tuple(map(pages.signature, paths)))
    key = (*files, split, metric)
    return await queues["long"].result(key, lambda: pages.comparison(paths, split, metric))
