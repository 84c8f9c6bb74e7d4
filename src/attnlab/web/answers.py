"""Answers as JSON, and errors as sentences: ``{"error": "…"}`` with a status that fits."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from attnlab.config import SettingsError
from attnlab.errors import BusyError, NotFoundError, UserError
from attnlab.guard import explain
from attnlab.web.words import in_form_words

STATUS: Mapping[type[Exception], int] = {NotFoundError: 404, BusyError: 429}
WORDS = {404: "there is no such page.", 405: "this address does not take that method."}


class PlainJson(JSONResponse):
    """JSON in ASCII: half a character that a request brought along can be sent back."""

    def render(self, content: Any) -> bytes:
        """Encode the answer; NaN is refused, since JSON has none."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def sentence(status: int, text: str) -> PlainJson:
    """Return an error in words."""
    return PlainJson({"error": text}, status)


def explain_errors(app: FastAPI) -> None:
    """Turn what a request can do wrong into sentences; ``Safety`` does so with all the rest."""
    app.add_exception_handler(UserError, _about_a_mistake)
    app.add_exception_handler(OSError, _about_a_file)
    app.add_exception_handler(RequestValidationError, _about_a_field)
    app.add_exception_handler(HTTPException, _about_an_address)


def _about_a_mistake(_: Request, error: Exception) -> PlainJson:
    told = in_form_words(str(error))
    if isinstance(error, SettingsError):
        fields = {key: in_form_words(why) for key, why in error.reasons.items()}
        return PlainJson({"error": told, "fields": fields}, 422)
    return sentence(STATUS.get(type(error), 400), told)


def _about_a_file(_: Request, error: Exception) -> PlainJson:
    if isinstance(error, FileNotFoundError):
        return sentence(404, f"{error.filename} was removed while it was read. Reload the page.")
    return sentence(409, explain("attnlab", error)[0])


def _about_a_field(_: Request, error: Exception) -> PlainJson:
    assert isinstance(error, RequestValidationError)
    return sentence(422, " ".join(map(_field, error.errors()[:3])))


def _field(problem: Mapping[str, Any]) -> str:
    place: Sequence[Any] = problem["loc"]
    where, *path = (str(part) for part in place)
    named = ".".join(path)
    return f"{f'{named} of the {where}' if named else f'the {where}'}: {problem['msg']}."


def _about_an_address(_: Request, error: Exception) -> PlainJson:
    assert isinstance(error, HTTPException)
    return sentence(error.status_code, WORDS.get(error.status_code) or str(error.detail))
