"""The view of attention: where every head of a run's model looks in a typed text."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from attnlab.web.inside import run_folder
from attnlab.web.models import LOOK, HeldModels
from attnlab.web.settings import settings_of

router = APIRouter(prefix="/api/attention", tags=["attention"])

LONGEST_TEXT = 20_000
"""Characters; a model reads its first tokens."""

RunName = Annotated[str, Field(min_length=1, max_length=500)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]


class ReadText(BaseModel):
    """A text, or a pair of them, for the model of a run."""

    run: RunName
    text: Text
    pair: Text | None = None


class OneHead(ReadText):
    """One matrix of one head; layers and heads are counted from 0."""

    layer: Annotated[int, Field(ge=0, le=10_000)]
    head: Annotated[int, Field(ge=0, le=10_000)]
    matrix: Literal["weights", "scores", "masked"] = "weights"


@router.post("/overview")
async def overview(asked: ReadText, request: Request, models: HeldModels) -> Any:
    """Return the tokens, and a thumbnail of every head."""
    path = await run_in_threadpool(run_folder, asked.run, settings_of(request).runs)
    key = ("overview", asked.text, asked.pair)
    return await models.answer(
        LOOK, path, lambda session: session.overview(asked.text, asked.pair), key=key
    )


@router.post("/head", response_class=Response)
async def head(asked: OneHead, request: Request, models: HeldModels) -> Response:
    """Return one head's weights or scores: float32, low byte first, one row per query."""
    path = await run_in_threadpool(run_folder, asked.run, settings_of(request).runs)
    which = {"layer": asked.layer, "head": asked.head, "what": asked.matrix}
    content = await models.answer(
        LOOK,
        path,
        lambda session: session.matrix(asked.text, asked.pair, **which),
        key=("head", asked.text, asked.pair, *which.values()),
    )
    return Response(content, media_type="application/octet-stream")


@router.post("/leak")
async def leak(asked: ReadText, request: Request, models: HeldModels) -> Any:
    """Return the leak meter's verdict on a text."""
    path = await run_in_threadpool(run_folder, asked.run, settings_of(request).runs)
    key = ("leak", asked.text, asked.pair)
    return await models.answer(
        LOOK, path, lambda session: session.leak(asked.text, asked.pair), key=key
    )
