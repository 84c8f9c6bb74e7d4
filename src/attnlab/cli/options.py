"""Options that several commands share, and which process this is."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from attnlab.errors import UserError

Number = TypeVar("Number", int, float)
Settings = TypeVar("Settings")

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
    typer.Option("--set", help="Any setting by its key; may be given often.", metavar="KEY=VALUE"),
]
Length = Annotated[
    str | None, typer.Option(help="How long to train: '30 epochs', '2M tokens', '60 seconds'.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of everything random in training.")]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.")]
ShowSettings = Annotated[
    bool,
    typer.Option("--settings", help="Print all settings as a --config file and stop."),
]


def complete_attention(incomplete: str) -> list[str]:
    """Offer the names of attention variants to the shell."""
    from attnlab.attention import ATTENTION

    return [name for name in ATTENTION.names() if name.startswith(incomplete)]


def complete_positions(incomplete: str) -> list[str]:
    """Offer the names of position schemes to the shell."""
    from attnlab.attention.positions import POSITIONS

    return [name for name in POSITIONS.names() if name.startswith(incomplete)]


Attention = Annotated[
    str | None,
    typer.Option(
        "--attention",
        help="A variant, see attnlab attention list, or your own: path/to/file.py:Name.",
        metavar="NAME",
        autocompletion=complete_attention,
    ),
]
PositionScheme = Annotated[
    str | None,
    typer.Option(
        "--positions",
        help="How tokens learn where they stand: learned, rotary, …",
        metavar="NAME",
        autocompletion=complete_positions,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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


def path_text(path: Path | None) -> str | None:
    """Write a path as a setting; one that was not given stays so."""
    return None if path is None else str(path)


def settled(
    base: Settings,
    *,
    file: Path | None,
    sets: list[str] | None,
    show: bool,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Layer what the user gave over ``base``; with ``--settings``, print the result and stop."""
    from attnlab.config import resolve, to_yaml

    settings = resolve(base, file=file, flags=flags, sets=sets or ())
    if show:
        typer.echo(to_yaml(settings), nl=False)
        raise typer.Exit
    return settings


def process_rank() -> int:
    """Return the number torchrun gave this process; 0, the lead, writes to the terminal."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return 0
    return int(os.environ.get("RANK", "0"))
