"""The view of writing: a prompt continued as ``attnlab knowledge write`` does, token by token."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from attnlab.config import SettingsError
from attnlab.errors import AttnlabError
from attnlab.recipes.knowledge.write_settings import WriteSettings, check_prompt
from attnlab.runs.model_kind import LANGUAGE_MODEL, need_model
from attnlab.web.form import form_of, read_form
from attnlab.web.inside import run_folder
from attnlab.web.live import event
from attnlab.web.models import WRITE, HeldModels, Models, NobodyWaits
from attnlab.web.safety import FAILED
from attnlab.web.settings import settings_of
from attnlab.web.words import in_form_words

router = APIRouter(prefix="/api/write", tags=["write"])

MOST = {"samples": 10, "tokens": 2_000}
"""Others wait for the model meanwhile."""
Say = Callable[[str, dict[str, Any]], None]


class Wish(BaseModel):
    """A prompt for a run's model to continue."""

    run: Annotated[str, Field(max_length=500)]
    prompt: Annotated[str, Field(max_length=100_000)]
    values: dict[Annotated[str, Field(max_length=200)], Any] = {}
    """Settings by key; all others have their defaults."""


@dataclass(frozen=True)
class Work:
    """A prompt, and how to continue it."""

    prompt: str
    settings: WriteSettings

    def __call__(self, session: Any, say: Say) -> None:
        """Write every sample, and hand on each piece as soon as it is known."""
        say("begin", {"warnings": session.warnings})
        for sample in range(self.settings.samples):
            say("sample", {"number": sample + 1})
            passage = session.write(
                self.prompt,
                self.settings,
                sample=sample,
                show=lambda text: say("piece", {"text": text}),
            )
            say("done", {"tokens": passage.tokens, "ended": passage.ended})


@router.get("/form")
def form() -> dict[str, Any]:
    """Describe how a text can be written, within the limits of the page."""
    fields = form_of(WriteSettings())
    for field in fields:
        if field["key"] in MOST:
            field["limits"]["maximum"] = MOST[field["key"]]
    return {"fields": fields}


@router.post("")
async def write(request: Request, models: HeldModels, wish: Wish) -> StreamingResponse:
    """Continue a prompt; the answer is a stream of server-sent events."""
    path = await run_in_threadpool(run_folder, wish.run, settings_of(request).runs)
    settings = read_form(WriteSettings(), wish.values)
    refuse_too_much(settings)
    check_prompt(wish.prompt)
    await run_in_threadpool(need_model, path, LANGUAGE_MODEL)
    stream = pieces(models, path, Work(wish.prompt, settings))
    return StreamingResponse(stream, media_type="text/event-stream")


def refuse_too_much(settings: WriteSettings) -> None:
    """Refuse what would keep the model from others for minutes."""
    reasons = {
        key: f"At most {most:,} in the page; the command line writes more."
        for key, most in MOST.items()
        if getattr(settings, key) > most
    }
    if reasons:
        raise SettingsError(" ".join(f"{key}: {why}" for key, why in reasons.items()), reasons)


_at_work: set["asyncio.Task[Any]"] = set()
"""What is being written; a task that nobody holds may vanish."""


async def pieces(models: Models, path: Path, work: Work) -> AsyncIterator[str]:
    """Give each piece when it is written; whoever stops listening stops the writing."""
    loop, stop = asyncio.get_running_loop(), threading.Event()
    written: asyncio.Queue[str | None] = asyncio.Queue()

    def say(name: str, data: dict[str, Any]) -> None:
        if stop.is_set():
            raise NobodyWaits
        if data.get("text") != "":  # a token may end inside a character
            loop.call_soon_threadsafe(written.put_nowait, event(name, data))

    task = asyncio.create_task(
        models.answer(
            WRITE, path, lambda session: work(session, say), is_wanted=lambda: not stop.is_set()
        )
    )
    _at_work.add(task)

    def end(done: "asyncio.Task[Any]") -> None:
        _at_work.discard(done)
        if not done.cancelled():
            done.exception()  # is seen below, if anybody still listens
        written.put_nowait(None)

    task.add_done_callback(end)
    try:
        while (piece := await written.get()) is not None:
            yield piece
            await asyncio.sleep(0)  # however fast it writes, that nobody listens must be noticed
        if not task.cancelled() and (error := task.exception()):
            yield event("problem", {"error": _in_words(error)})
            if not isinstance(error, AttnlabError):
                raise error  # the terminal says why
    finally:
        stop.set()


def _in_words(error: BaseException) -> str:
    return in_form_words(str(error)) if isinstance(error, AttnlabError) else FAILED
