"""Everything that has a name: what it is, how large, and where it is or comes from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attnlab.assets.catalogue import ASSETS, Asset
from attnlab.assets.hub import downloaded_models
from attnlab.assets.models import find_model
from attnlab.assets.packages import asset_folder, get_asset, is_cached
from attnlab.assets.substitutions import substitute, substitutions
from attnlab.errors import did_you_mean, unknown_name

INDEX, MISSING = "package index", "not here"


@dataclass(frozen=True)
class Entry:
    """A line of the list."""

    name: str
    kind: str
    n_bytes: int | None
    where: str
    """The path of what is here, or where it can be had."""
    what: str
    licence: str


def inventory() -> Iterator[Entry]:
    """List the assets of the table, what was downloaded from the hub, and the substitutions."""
    for name, asset in ASSETS.items():
        where = str(asset_folder(name)) if is_cached(name) else f"{INDEX}: {asset.requirement}"
        yield _entry(name, asset, where)
    for name, folder in downloaded_models().items():
        size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
        yield Entry(name, "model", size, str(folder), "downloaded from the hub", "see the hub")
    for name, target in substitutions().items():
        here = Path(target).exists() or target in ASSETS
        where = target if here else f"{MISSING}: {target}"
        yield Entry(name, "substitution", None, where, f"stands for {target}", "")


def fetch(name: str) -> Path:
    """Get an asset of the table, or a model of the hub, onto this machine."""
    wanted = substitute(name)
    if wanted in ASSETS:
        return get_asset(wanted)
    if Path(wanted).exists():
        return Path(wanted)
    if did_you_mean(wanted, ASSETS) and wanted not in downloaded_models():
        raise unknown_name("asset", wanted, ASSETS)
    return find_model(wanted)


def _entry(name: str, asset: Asset, where: str) -> Entry:
    return Entry(name, asset.kind, asset.n_bytes, where, asset.what, asset.licence)
