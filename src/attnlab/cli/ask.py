"""``attnlab knowledge ask``: one question, or one after the other."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnlab.cli.options import AcceptChangedCode, AsJson, RunsFolder, complete_run
from attnlab.cli.show import print_view, say_next
from attnlab.errors import UserError

if TYPE_CHECKING:
    from attnlab.recipes.knowledge.ask import QASession


def ask(
    run: Annotated[
        str,
        typer.Argument(
            help="Name or path of a finished run with a model, or a .params file.",
            autocompletion=complete_run,
        ),
    ],
    question: Annotated[
        str | None, typer.Argument(help="The question; without it, you are prompted for questions.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="For a .params file, or if it was moved: the text that the model was trained on."
        ),
    ] = None,
    accept_changed_code: AcceptChangedCode = False,
    samples: Annotated[
        int, typer.Option(min=1, help="Answers to sample, besides the most likely one.")
    ] = 32,
    show: Annotated[
        Path | None,
        typer.Option(help="Draw where the model looks, as .png or .svg.", metavar="FILE"),
    ] = None,
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Ask a model a question, and learn whether the answer looks retrieved or made up.

    The verdict compares its confidence with that on held-out training people (--held-out of
    pretrain). An answer about a name that it never read is always made up.
    """
    if show:
        from attnlab.report.write import check_figure_path

        check_figure_path(show)
        if question is None:
            raise UserError("--show needs the question on the command line.")
    from attnlab.recipes.knowledge.ask import QASession
    from attnlab.recipes.knowledge.opened import open_model
    from attnlab.runs.lookup import find_run

    opened = open_model(
        find_run(run, runs), corpus=str(corpus or ""), accept_changed_code=accept_changed_code
    )
    session = QASession(opened, samples=samples)
    if question is not None:
        _print(session, question, as_json=as_json)
        if show:
            _draw(session, question, show)
        if not as_json:
            say_next(f"attnlab knowledge ask {shlex.quote(run)}")
        return
    for line in _questions():
        try:
            _print(session, line, as_json=as_json)
        except UserError as error:
            typer.echo(f"error: {error}", err=True)


def _questions() -> Iterator[str]:
    """Read the lines of a pipe, or prompt a person until an empty line."""
    if not sys.stdin.isatty():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    with suppress(EOFError):
        while line := input("question (an empty line ends): ").strip():
            yield line


def _print(session: "QASession", question: str, *, as_json: bool) -> None:
    answer = session.answer(question)
    if as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps({"question": question, **asdict(answer)}, ensure_ascii=False))
        return
    from attnlab.report.terminal import answer_view

    print_view(answer_view(answer))


def _draw(session: "QASession", question: str, path: Path) -> None:
    """Write the figure of where the model looked."""
    from attnlab.report.knowledge_figures import looks_figure
    from attnlab.report.write import save_figure

    looks = session.looks(question)
    weights = [layer.numpy() for layer in looks.weights]
    save_figure(looks_figure(looks.tokens, weights, n_question=looks.n_question), path)
    typer.echo(str(path), err=True)
