"""What is on this machine already, for lists and for errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnlab.assets.catalogue import names_of
from attnlab.assets.hub import downloaded_models
from attnlab.assets.packages import asset_folder, is_cached
from attnlab.assets.substitutions import substitutions
from attnlab.errors import DamagedFileError, UserError

KINDS = {"model": "models", "data": "datasets"}


def local_assets(kind: str) -> dict[str, Path]:
    """Return the models, or datasets, that can be had without a network, and where they are."""
    cached = {name: asset_folder(name) for name in names_of(kind) if is_cached(name)}
    downloaded = downloaded_models() if kind == "model" else {}
    return cached | downloaded | substituted_paths(kind)


def substituted_paths(kind: str) -> dict[str, Path]:
    """Return the names that the user gave to folders (models) and files (datasets)."""
    found = {name: Path(target) for name, target in substitutions().items()}
    return {
        name: path
        for name, path in found.items()
        if (path.is_dir() if kind == "model" else path.is_file())
    }


@contextmanager
def with_local_names(kind: str) -> Iterator[None]:
    """Let the error about something that cannot be had say what can be."""
    try:
        yield
    except DamagedFileError:
        raise
    except UserError as error:
        here = ", ".join(local_assets(kind)) or "none"
        index = ", ".join(name for name in names_of(kind) if not is_cached(name))
        more = f"; from the package index: {index}" if index else ""
        raise UserError(f"{error} {KINDS[kind].capitalize()} here: {here}{more}.") from None
