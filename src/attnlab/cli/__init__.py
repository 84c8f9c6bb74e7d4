"""The command line: parse, check, call. Nothing heavy is loaded before a command needs it."""

import os
import sys

import typer

from attnlab import __version__
from attnlab.cli import assets, attention, classify, doctor, knowledge, run, runs
from attnlab.cli.options import group, process_rank
from attnlab.errors import AttnlabError
from attnlab.phases import announce_imports

QUIET_FLAG = "--quiet"
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
app.add_typer(assets.app, name="assets")
app.command(name="run", epilog=run.EXAMPLE)(run.run)
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
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    quiet: bool = typer.Option(False, QUIET_FLAG, help="Show results and errors only."),
) -> None:
    """Take the options that stand before the command."""
    if debug:
        os.environ["ATTNLAB_DEBUG"] = "1"
    if quiet:
        os.environ["ATTNLAB_QUIET"] = "1"


def main() -> None:
    """Run the command line; an expected error is one or two lines and its exit code."""
    if QUIET_FLAG in sys.argv:  # typer takes it before the command only, users type it anywhere
        sys.argv.remove(QUIET_FLAG)
        sys.argv.insert(1, QUIET_FLAG)
    announce_imports(*SLOW_TO_LOAD)
    try:
        app()
    except AttnlabError as error:
        if os.environ.get("ATTNLAB_DEBUG"):
            raise
        rank = process_rank()
        if rank == 0 or not error.told_by_lead:
            typer.echo(f"attnlab: {f'[process {rank}] ' if rank else ''}{error}", err=True)
        sys.exit(error.exit_code)
