"""The model that requests ask: one run's at a time, loaded when it is first asked for.

A session is what the command line has behind `knowledge ask`, `knowledge write` and `classify
predict`, or like it. It stays in memory until another one is asked for, or its run changes.
Requests wait for each other, and for the loading, in a queue; torch is imported with the first
session.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from attnlab.errors import NotFoundError
from attnlab.runs.model_kind import CLASSIFIER, LANGUAGE_MODEL, ModelKind, need_model
from attnlab.web.pages import signature
from attnlab.web.queue import Queue

MOST_KEPT = 32
"""Answers; that of a head of attention has up to 4 MiB, at 1,024 tokens."""


@dataclass(frozen=True)
class SessionKind:
    """What opens a run's model for one kind of request: ``open_from`` is ``module:name``."""

    open_from: str
    models: tuple[ModelKind, ...]
    """The kinds of model that it can ask."""

    def open(self, path: Path) -> Any:
        """Load the model."""
        module, _, name = self.open_from.partition(":")
        return getattr(import_module(module), name)(path)


ASK = SessionKind("attnlab.recipes.knowledge.ask:QASession", (LANGUAGE_MODEL,))
WRITE = SessionKind("attnlab.recipes.knowledge.write:WritingSession", (LANGUAGE_MODEL,))
CLASSIFY = SessionKind("attnlab.recipes.classify.explain_text:ExplainingSession", (CLASSIFIER,))
LOOK = SessionKind(
    "attnlab.recipes.attention.look_at_text:LookingSession", (LANGUAGE_MODEL, CLASSIFIER)
)


class Models:
    """One session in memory, and the queue before it."""

    def __init__(self) -> None:
        self._queue = Queue(most_kept=MOST_KEPT)
        self._held: tuple[Hashable, Any] | None = None

    async def answer(
        self,
        kind: SessionKind,
        path: Path,
        compute: Callable[[Any], Any],
        *,
        key: Hashable = None,
    ) -> Any:
        """Return what ``compute`` makes of the run's session, in a thread and one at a time.

        An answer with the same ``key`` as one before is not computed again; with None it always
        is. What can be refused without loading a model is refused before anybody waits.
        """
        files = await run_in_threadpool(_checked, kind, path)
        asked = (kind, files, object() if key is None else key)
        return await self._queue.result(
            asked, lambda: compute(self._session(kind, path, files)), keep=key is not None
        )

    def _session(self, kind: SessionKind, path: Path, files: Hashable) -> Any:
        if self._held is None or self._held[0] != (kind, files):
            self._held = None  # the old model goes before the new one comes
            if not path.exists():
                raise NotFoundError(f"the run {path.name} was removed. Reload the page.")
            self._held = (kind, files), kind.open(path)
        return self._held[1]


def _checked(kind: SessionKind, path: Path) -> Hashable:
    """Refuse a run without such a model; return what changes when the run does."""
    need_model(path, *kind.models)
    return signature(path)


def models_of(request: Request) -> Models:
    """Return what holds the model of the server."""
    models = request.app.state.models
    assert isinstance(models, Models)
    return models


HeldModels = Annotated[Models, Depends(models_of)]
