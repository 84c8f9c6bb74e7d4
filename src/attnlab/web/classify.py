"""The view of classification: a text's classes, and which of its tokens mattered."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from attnlab.web.attention import ReadText
from attnlab.web.inside import run_folder
from attnlab.web.models import CLASSIFY, HeldModels
from attnlab.web.settings import settings_of

router = APIRouter(prefix="/api/classify", tags=["classify"])

Label = Annotated[str, Field(max_length=500)]


class ToClassify(ReadText):
    """A text to classify, and the class to explain: if none is given, the predicted one."""

    label: Label | None = None


class ToLeaveOut(ReadText):
    """A text whose tokens are left out one at a time, from a place on."""

    label: Label
    start: Annotated[int, Field(ge=0, le=1_000_000)] = 0


@router.post("")
async def classify(asked: ToClassify, request: Request, models: HeldModels) -> Any:
    """Return the probabilities of the classes as `classify predict` does, and gradient × input."""
    path = await run_in_threadpool(run_folder, asked.run, settings_of(request).runs)
    given = (asked.text, asked.pair, asked.label)
    return await models.answer(
        CLASSIFY, path, lambda session: session.classify(*given), key=("classify", *given)
    )


@router.post("/leave-one-out")
async def leave_one_out(asked: ToLeaveOut, request: Request, models: HeldModels) -> Any:
    """Return by how much a class's probability falls without some of the tokens."""
    path = await run_in_threadpool(run_folder, asked.run, settings_of(request).runs)
    given, which = (asked.text, asked.pair), {"label": asked.label, "start": asked.start}
    return await models.answer(
        CLASSIFY,
        path,
        lambda session: session.leave_one_out(*given, **which),
        key=("leave one out", *given, *which.values()),
    )
