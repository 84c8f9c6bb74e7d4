"""The whole command line in one tree: its groups and commands, and the options before them."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from attnlab import __version__
from attnlab.cli import assets, attention, classify, doctor, jobs, knowledge, run, runs, serve
from attnlab.cli.flags import add_lazily
from attnlab.cli.options import group
from attnlab.environment import DEBUG, QUIET
from attnlab.errors import UserError
from attnlab.guard import escaped
from attnlab.phases import announce_imports

QUIET_FLAG, DEBUG_FLAG = "--quiet", "--debug"
COMPLETION = "_ATTNLAB_COMPLETE"
ClickError: Any = typer.BadParameter.__mro__[2]  # typer brings click along and does not name it
SLOW_TO_LOAD = (
    *("torch", "torch._dynamo", "transformers", "matplotlib", "matplotlib.figure"),
    *("scipy", "scipy.optimize", "scipy.stats", "scipy.spatial", "scipy.special"),
)
app = group(
    "A laboratory for attention, pretraining and fine-tuning.",
    name="attnlab",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: attnlab knowledge demo\n\nTab completion: attnlab --install-completion",
)
app.add_typer(attention.app, name="attention")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(classify.app, name="classify")
app.add_typer(runs.app, name="runs")
app.add_typer(jobs.app, name="jobs")
app.add_typer(assets.app, name="assets")
add_lazily(app, {"name": "run", "help": run.ABOUT, "epilog": run.EXAMPLE}, run.placed_run)
app.command(name="serve", epilog=serve.EXAMPLE)(serve.serve)
app.command(name="doctor", epilog=doctor.EXAMPLE)(doctor.doctor)


def _show_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"attnlab {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _options(
    version: bool = typer.Option(  # noqa: ARG001 - the callback has done it
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
    debug: bool = typer.Option(False, DEBUG_FLAG, help="Show the traceback of an error."),
    quiet: bool = typer.Option(False, QUIET_FLAG, help="Show results and errors only."),
) -> None:
    """Take the options that stand before the command."""
    if debug:
        os.environ[DEBUG] = "1"
    if quiet:
        os.environ[QUIET] = "1"


@contextmanager
def parsed_command() -> Iterator[tuple[Any, Any]]:
    """Read the command line; the caller invokes the command in its context."""
    for flag in (QUIET_FLAG, DEBUG_FLAG):
        _put_first(flag)
    announce_imports(*SLOW_TO_LOAD)
    if COMPLETION in os.environ:
        app()  # the shell asks what may follow
    command = typer.main.get_command(app)
    try:
        # typer's own way in hides a Ctrl-C and the end of a pipe from the guard
        with command.make_context("attnlab", sys.argv[1:]) as context:
            yield command, context
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except ClickError as error:
        sys.exit(_refuse(error))
    except typer.Abort as error:
        _end_at_prompt(error)


def _put_first(flag: str) -> None:
    """Move a flag before the command, where typer wants it: users type it anywhere."""
    if flag in sys.argv[1:]:
        sys.argv.remove(flag)
        sys.argv.insert(1, flag)


def _end_at_prompt(error: Exception) -> NoReturn:
    """Say which of the two ended a question to the user, which typer keeps to itself."""
    typer.echo(err=True)  # the line of the question
    if isinstance(error.__context__, KeyboardInterrupt):
        raise error.__context__
    raise UserError("standard input ended before an answer; --yes answers for you.") from None


def _refuse(error: Any) -> int:
    """Say what is wrong with the command line, in typer's words."""
    words = io.StringIO()
    error.show(file=words)
    usage, mark, problem = words.getvalue().rstrip("\n").partition("\n\nError: ")
    typer.echo(f"{usage}{mark}{escaped(problem)}", err=True)  # what the user typed may be anything
    return int(error.exit_code)
