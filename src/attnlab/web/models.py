"""The model that requests ask: one run's at a time, loaded when it is first asked for.

A session is what the command line has behind `knowledge ask`, `knowledge write` and `classify
predict`, or like it, around a model that is loaded once: a view that asks the same run as the one
before finds the model in memory. It stays there until another run is asked, or its own changes.
Requests wait for each other, and for the loading, in a queue; torch is imported with the first
model.
"""

from collections.abc import Callable, Hashable, Mapping
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
LOADERS: Mapping[ModelKind, str] = {
    LANGUAGE_MODEL: "attnlab.recipes.knowledge.opened:open_model",
    CLASSIFIER: "attnlab.recipes.classify.explain_text:ExplainingSession",
}
"""What loads the model of a run, as ``module:name``."""


@dataclass(frozen=True)
class SessionKind:
    """What asks a loaded model for one kind of request."""

    models: tuple[ModelKind, ...]
    """The kinds of model that it can ask."""
    made_by: str | None = None
    """``module:name``; None if what is loaded answers by itself."""

    def open(self, model: Any) -> Any:
        """Make a session around a model."""
        return _imported(self.made_by)(model) if self.made_by else model


ASK = SessionKind((LANGUAGE_MODEL,), "attnlab.recipes.knowledge.ask:QASession")
WRITE = SessionKind((LANGUAGE_MODEL,), "attnlab.recipes.knowledge.write:WritingSession")
CLASSIFY = SessionKind((CLASSIFIER,))
LOOK = SessionKind(
    (LANGUAGE_MODEL, CLASSIFIER), "attnlab.recipes.attention.look_at_text:LookingSession"
)


class NobodyWaits(Exception):  # noqa: N818 - nothing has failed
    """Whoever has asked is gone."""


class Models:
    """One model in memory with one session around it, and the queue before it."""

    def __init__(self) -> None:
        self._queue = Queue(most_kept=MOST_KEPT)
        self._held: tuple[Hashable, Any] | None = None
        self._session: tuple[SessionKind, Any] | None = None

    async def answer(
        self,
        kind: SessionKind,
        path: Path,
        compute: Callable[[Any], Any],
        *,
        key: Hashable = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Any:
        """Return what ``compute`` makes of the run's session, in a thread and one at a time.

        An answer with the same ``key`` as one before is not computed again; with None it always
        is. What can be refused without loading a model is refused before anybody waits. A request
        that nobody wants any more when its turn comes loads nothing.
        """
        files = await run_in_threadpool(_checked, kind, path)
        asked = (kind, files, object() if key is None else key)

        def computed() -> Any:
            if not is_wanted():
                raise NobodyWaits
            return compute(self._opened(kind, path, files))

        return await self._queue.result(asked, computed, keep=key is not None)

    def _opened(self, kind: SessionKind, path: Path, files: Hashable) -> Any:
        """Return the session of a run; what was there before goes before the new one comes."""
        if self._held is None or self._held[0] != files:
            self._held = self._session = None
            if not path.exists():
                raise NotFoundError(f"the run {path.name} was removed. Reload the page.")
            self._held = files, load(path)
        if self._session is None or self._session[0] != kind:
            self._session = None
            self._session = kind, kind.open(self._held[1])
        return self._session[1]


def load(path: Path) -> Any:
    """Load the model of a run."""
    return _imported(LOADERS[need_model(path, *LOADERS)])(path)


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


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
