"""``attnlab classify predict``: a file becomes a run; texts typed or piped are only answered."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnlab.cli.options import AsJson
from attnlab.cli.show import print_json, print_view
from attnlab.errors import UserError
from attnlab.runs.references import STANDARD_INPUT as PIPE

if TYPE_CHECKING:
    from attnlab.cli.flags import Request

Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--text", help="A text to classify instead of a file; can be repeated.", metavar="TEXT"
    ),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option(
        "--pair", help="Second text of each --text, if the classifier takes pairs.", metavar="TEXT"
    ),
]


def predict_or_settings(
    request: "Request", text: Texts = None, pair: Pairs = None, as_json: AsJson = False
) -> Any:
    """Return the settings of a run if there is a file; else answer here."""
    settings = request.settings()
    is_piped = settings.texts == PIPE
    if text and settings.texts:
        raise UserError(f"--text and {settings.texts} exclude each other: give one of them.")
    if not text and not is_piped:
        _refuse_without_text({"--pair": pair, "--json": as_json})
        return settings
    if request.placement.is_submitted:
        raise UserError("--on slurm is for files: texts typed or piped are answered here.")
    if is_piped and pair:
        raise UserError("--pair goes with --text; in a pipe, put a tab between the two texts.")
    rows = _answers(settings.run, text or (), pair or ())
    if request.outputs:
        from attnlab.runs.answers_file import write_answers

        write_answers(rows, request.outputs)
    _print(rows, as_json=as_json)
    return None


def _refuse_without_text(given: dict[str, Any]) -> None:
    for flag, value in given.items():
        if value:
            raise UserError(f"{flag} needs --text TEXT, or {PIPE} for standard input.")


def _answers(run: str, texts: Sequence[str], pairs: Sequence[str]) -> list[dict[str, Any]]:
    from pathlib import Path

    from attnlab.phases import messages, phase

    with phase(f"loading {Path(run).name}"):
        from attnlab.recipes.classify.predict_texts import TextSession

        session = TextSession(Path(run))
    if texts:
        return session.given(texts, pairs)
    if sys.stdin.isatty():
        messages().print("one text per line; Ctrl-D ends", highlight=False)
    return session.piped(sys.stdin.buffer.read())


def _print(rows: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        from attnlab.runs.answers_file import plain_answer

        print_json([plain_answer(row) for row in rows])
        return
    from attnlab.report.terminal import labels_view

    print_view(labels_view(rows))
