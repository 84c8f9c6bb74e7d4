"""The application: its views, its static files, and what stands before them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool

from attnlab import __version__
from attnlab.web import ask, attention, classify, jobs, model_list, playground, runs, write
from attnlab.web.answers import PlainJson, explain_errors
from attnlab.web.children import Children
from attnlab.web.models import Models
from attnlab.web.queue import Queue
from attnlab.web.safety import Safety, has_token
from attnlab.web.settings import WebSettings, settings_of

STATIC = Path(__file__).parent / "static"
VIEWS = (runs, playground, model_list, attention, ask, classify, write, jobs)
"""Each has a ``router``; the files of its page are in ``static/views/``."""

router = APIRouter(prefix="/api")


def create_app(settings: WebSettings) -> FastAPI:
    """Build the application. FastAPI's own pages are left out: they load scripts from elsewhere."""
    app = FastAPI(
        title="attnlab",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        default_response_class=PlainJson,
        lifespan=_until_the_end,
    )
    app.state.settings = settings
    app.state.children = Children(settings.runs)
    app.state.queues = {name: Queue() for name in ("list", "run", "long")}
    app.state.models = Models()
    for one in (router, *(view.router for view in VIEWS)):
        app.include_router(one)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    explain_errors(app)
    app.add_middleware(Safety, settings=settings)
    return app


@asynccontextmanager
async def _until_the_end(app: FastAPI) -> AsyncIterator[None]:
    """Stop the jobs of the server when it ends."""
    yield
    await run_in_threadpool(app.state.children.close)


@router.get("/session")
def session(request: Request) -> dict[str, str | None]:
    """Say what the page is talking to; who came with the token is told it, to send it back."""
    settings = settings_of(request)
    token = settings.token if has_token(request, settings) else None
    return {"version": __version__, "runs": str(settings.runs), "token": token}
