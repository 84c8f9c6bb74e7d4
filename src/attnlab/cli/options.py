"""Options that several commands share."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from attnlab.errors import UserError

Number = TypeVar("Number", int, float)

RunsFolder = Annotated[
    Path,
    typer.Option("--runs", envvar="ATTNLAB_RUNS", help="Folder that holds the runs."),
]
RunName = Annotated[
    str | None,
    typer.Option("--name", help="Name of the run; without it, job and hash of the settings."),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="YAML or JSON file of settings.", metavar="FILE")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any setting by its key; can be repeated.", metavar="KEY=VALUE"),
]


def _check_outputs(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before anything is worked out."""
    if path is not None:
        from attnlab.runs.files import check_output

        check_output(path)
    return path


Outputs = Annotated[
    Path | None,
    typer.Option(
        "--outputs",
        help="Also write the answers to this file: a table if it ends in .csv or .jsonl, else one"
        " answer per line.",
        metavar="FILE",
        callback=_check_outputs,
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel",
        min=1,
        max=1000,
        help="Number of cells to run at a time, each in a separate process. Run locally, they share"
        " the cores.  [default: 1; on Slurm, as many as there is room for]",
        metavar="N",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Train nothing: print cells, steps, the expected minutes from a few timed steps, and"
        " the smallest difference that the result could show. With --on slurm, print the batch"
        " script instead.",
    ),
]
ShowSettings = Annotated[
    bool,
    typer.Option("--settings", help="Print all settings as a --config file and stop."),
]


class _Group(TyperGroup):
    """A group of commands whose help shows a whole sentence about each."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as in click
        """Write the list of commands; click itself would cut it at the edge."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(limit=1000)) for name, one in self.commands.items()]
            )


def group(help_text: str, **more: Any) -> typer.Typer:
    """Return an empty group of commands."""
    return typer.Typer(
        help=help_text, cls=_Group, no_args_is_help=True, rich_markup_mode=None, **more
    )


def completing(table: str, *, several: bool = False) -> Callable[[str], list[str]]:
    """Return what offers the shell the names in a table, given as ``module:table``.

    The table is a mapping or a registry, and is loaded when the shell asks. Of ``several`` names
    between commas, the last one is completed.
    """

    def complete(incomplete: str) -> list[str]:
        module, _, name = table.partition(":")
        found = getattr(import_module(module), name)
        names = found.names() if hasattr(found, "names") else found
        before, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        return [f"{before}{comma}{name}" for name in names if name.startswith(last)]

    return complete


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the shell the runs of the folder that the command looks in."""
    from attnlab.runs.lookup import default_root, names_in

    root = Path(ctx.params.get("runs") or default_root())
    return [name for name in names_in(root) if name.startswith(incomplete)]


complete_attention = completing("attnlab.attention:ATTENTION")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AcceptChangedCode = Annotated[
    bool,
    typer.Option(
        "--accept-changed-code",
        help="Continue although the file of your own attention has changed since training.",
    ),
]


def numbers(text: str, option: str, kind: Callable[[str], Number]) -> list[Number]:
    """Read numbers between commas; nothing is an empty list."""
    try:
        return [kind(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        sort, sample = ("whole numbers", "0,1") if kind is int else ("numbers", "0.2,0.8")
        raise UserError(
            f"{option} {text!r}: give {sort} with commas between, as {sample}."
        ) from None


def names(text: str | None) -> list[str] | None:
    """Read names between commas; what was not given stays so."""
    return None if text is None else [part.strip() for part in text.split(",")]
