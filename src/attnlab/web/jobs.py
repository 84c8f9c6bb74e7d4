"""The view of jobs: a form for each, those that were started here, stop and go on."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from attnlab.recipes.jobs import JOBS, find_job
from attnlab.web import job_progress
from attnlab.web.children import Child, Children
from attnlab.web.form import form_of, read_form
from attnlab.web.inside import run_folder
from attnlab.web.job_start import start_job, unfinished
from attnlab.web.settings import settings_of

router = APIRouter(prefix="/api/jobs", tags=["jobs"])

Name = Annotated[str, Field(min_length=1, max_length=200)]
JobName = Annotated[str, Query(max_length=100)]


class Order(BaseModel):
    """A job to start."""

    job: Annotated[str, Field(max_length=100)]
    name: Name | None = None
    """Name of the run; without it, job and hash of the settings."""
    values: dict[Annotated[str, Field(max_length=200)], Any] = {}
    """Settings by key; all others have their defaults."""


class Named(BaseModel):
    """A job that was started here, or a run that was not finished."""

    name: Name


def children_of(request: Request) -> Children:
    """Return the jobs of the server that a request has reached."""
    children = request.app.state.children
    assert isinstance(children, Children)
    return children


Ours = Annotated[Children, Depends(children_of)]


@router.get("")
def list_(children: Ours) -> dict[str, Any]:
    """List the jobs that there are, and those that were started here."""
    kinds = [{"name": job.name, "summary": job.summary} for job in JOBS.values()]
    started = [job_progress.job_line(child, children.root) for child in children.all()]
    return {"jobs": kinds, "started": started}


@router.get("/form")
def form(request: Request, job: JobName) -> dict[str, Any]:
    """Describe the settings of a job, to be filled in."""
    found = find_job(job)
    folders = [str(folder.resolve()) for folder in settings_of(request).readable]
    fields = form_of(found.settings())
    return {"name": job, "summary": found.summary, "fields": fields, "folders": folders}


@router.get("/events")
async def events(children: Ours, name: Annotated[str, Query(max_length=200)]) -> StreamingResponse:
    """Send how far a job is whenever it gets further, as server-sent events."""
    children.find(name)
    stream = job_progress.events(children, name)
    return StreamingResponse(stream, media_type="text/event-stream")


@router.post("/start")
def start(request: Request, children: Ours, order: Order) -> dict[str, Any]:
    """Start a job with the settings of a form."""
    base = find_job(order.job).settings()
    settings = read_form(base, order.values)
    child = start_job(children, order.job, settings, order.name, served=settings_of(request))
    return _shown(child, children)


@router.post("/stop")
def stop(children: Ours, named: Named) -> dict[str, Any]:
    """Stop a job as Ctrl-C does: it saves itself, and can go on from there."""
    return _shown(children.stop(named.name), children)


@router.post("/resume")
def resume(request: Request, children: Ours, named: Named) -> dict[str, Any]:
    """Go on with a job that was stopped, or with an unfinished run of the list."""
    if any(child.name == named.name for child in children.all()):
        return _shown(children.go_on(named.name), children)
    served = settings_of(request)
    job, settings = unfinished(run_folder(named.name, served.runs))
    return _shown(start_job(children, job, settings, named.name, served=served), children)


def _shown(child: Child, children: Children) -> dict[str, Any]:
    return job_progress.job_line(child, children.root)
