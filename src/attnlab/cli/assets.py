"""``attnlab assets …``: models and datasets that can be named instead of given as files."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import AsJson, group
from attnlab.cli.show import say_next

app = group("List models and datasets by name, and fetch them ahead of time.")


def complete_asset(incomplete: str) -> list[str]:
    """Offer every name to the shell."""
    from attnlab.assets.catalogue import ASSETS

    return [name for name in ASSETS if name.startswith(incomplete)]


def complete_data(incomplete: str) -> list[str]:
    """Offer datasets and files to the shell."""
    return _names_and_paths("data", incomplete)


def complete_model(incomplete: str) -> list[str]:
    """Offer models and folders to the shell."""
    return _names_and_paths("model", incomplete)


def _names_and_paths(kind: str, incomplete: str) -> list[str]:
    from attnlab.assets.catalogue import names_of
    from attnlab.assets.local import local_assets

    names = dict.fromkeys([*names_of(kind), *local_assets(kind)])
    paths = sorted(
        f"{path}/" if path.is_dir() else str(path)
        for path in Path().glob(f"{incomplete}*")
        if kind == "data" or path.is_dir()
    )
    return [*(name for name in names if name.startswith(incomplete)), *paths]


@app.command("list", epilog="Example: attnlab assets list --json")
def list_(as_json: AsJson = False) -> None:
    """List the models and datasets that have a name, and where each is."""
    from attnlab.assets.inventory import inventory

    entries = list(inventory())
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], indent=2))
        return
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        size = "–" if entry.n_bytes is None else f"{entry.n_bytes / 1e6:.1f} MB"
        typer.echo(f"{entry.name:<{width}}  {entry.kind:<12}  {size:>8}  {entry.where}")
        typer.echo(f"{'':<{width}}  {entry.what}")
    say_next("attnlab classify train")


@app.command(epilog="Example: attnlab assets get rotten-tomatoes all-MiniLM-L6-v2")
def get(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Names from `attnlab assets list`, or of models on the hub.",
            metavar="NAME...",
            autocompletion=complete_asset,
        ),
    ],
) -> None:
    """Fetch assets into the cache, for instance before going to a machine without a network.

    Prints where each is. Assets that are already there are not fetched again.
    """
    from attnlab.assets.inventory import fetch

    for name in names:
        typer.echo(f"{name}  {fetch(name)}")
    say_next("attnlab assets list")
