"""``attnlab knowledge write``: a model continues a prompt."""

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnlab.cli.options import AcceptChangedCode, AsJson, RunsFolder, complete_run
from attnlab.cli.show import say_next

if TYPE_CHECKING:
    from attnlab.recipes.knowledge.write import WritingSession
    from attnlab.recipes.knowledge.write_settings import WriteSettings


def write(
    run: Annotated[
        str,
        typer.Argument(
            help="Name or path of a finished run, or a .params file.", autocompletion=complete_run
        ),
    ],
    prompt: Annotated[str, typer.Argument(help="The beginning of the text.")],
    temperature: Annotated[
        float | None,
        typer.Option(help="0 always takes the most likely token.  [default: 0.8; >= 0]"),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Draw among this many of the most likely tokens.  [>= 1]")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Draw among the fewest tokens that together have this probability.  [default: 1;"
            " > 0 and <= 1]"
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws.  [default: 0; >= 0]")] = None,
    samples: Annotated[
        int | None, typer.Option(help="How many texts to write.  [default: 1; >= 1]")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Length of each text.  [default: 200; > 0]")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="For a .params file, or if it was moved: the text that the model was trained on."
        ),
    ] = None,
    accept_changed_code: AcceptChangedCode = False,
    runs: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Let a model continue a prompt.

    A terminal shows the text as it is written. A pipe or a file gets only the text, including the
    prompt, with an empty line between samples.
    """
    settings = _settings(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        samples=samples,
        tokens=tokens,
    )
    from attnlab.recipes.knowledge.write_settings import check_prompt

    check_prompt(prompt)
    from attnlab.recipes.knowledge.opened import open_model
    from attnlab.recipes.knowledge.write import WritingSession
    from attnlab.runs.lookup import find_run

    opened = open_model(
        find_run(run, runs), corpus=str(corpus or ""), accept_changed_code=accept_changed_code
    )
    session = WritingSession(opened)
    for warning in session.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if as_json:
        for number, passage in enumerate(session.samples(prompt, settings), 1):
            line = {
                "prompt": prompt,
                "sample": number,
                **asdict(passage),
                "warnings": session.warnings,
            }
            typer.echo(json.dumps(line, ensure_ascii=False))
    else:
        _print(session, prompt, settings)
        again = f"{shlex.quote(run)} {shlex.quote(prompt)} --seed {settings.seed + 1}"
        say_next(f"attnlab knowledge write {again}")


def _settings(**given: float | None) -> "WriteSettings":
    """Check what was given, under the name that the user typed."""
    from attnlab.config import Given, resolve
    from attnlab.recipes.knowledge.write_settings import WriteSettings

    flags = {
        name: Given(value, f"--{name.replace('_', '-')} {value}")
        for name, value in given.items()
        if value is not None
    }
    return resolve(WriteSettings(), flags=flags)


def _print(session: "WritingSession", prompt: str, settings: "WriteSettings") -> None:
    """Print each sample as it is written; the numbers of the samples go to stderr."""
    for sample in range(settings.samples):
        if sample:
            typer.echo()
        if settings.samples > 1:
            typer.echo(f"sample {sample + 1} of {settings.samples}:", err=True)
        session.write(prompt, settings, sample=sample, show=_put)
        typer.echo()


def _put(text: str) -> None:
    """Write at once, even if the stream is line-buffered."""
    sys.stdout.write(text)
    sys.stdout.flush()
