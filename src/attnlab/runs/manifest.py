"""manifest.json: the SHA-256 of every file that a finished run, or a checkpoint, was written with.

    {"config.json": "9f86d081…", "predictions/dev.jsonl": "2c26b46b…", "record.json": "…"}

A file that holds something else by now is damaged, or another one was put in its place. Whoever
reads it is told so, and what it holds is not used.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from attnlab.errors import DamagedFileError
from attnlab.runs.files import parse_object, reading, replace_file, sha256_of, to_json
from attnlab.runs.shapes import ADVICE, shown

MANIFEST, RECORD = "manifest.json", "record.json"
Manifest = Mapping[str, str]
"""The hash of every file by its path in the folder."""
DEEPEST = 3
"""How many folders a file of a run lies in: ``checkpoints/step-…/`` is the run's third."""
_HASH = re.compile(r"[0-9a-f]{64}")


def hashes_of(folder: Path, patterns: Iterable[str]) -> dict[str, str]:
    """Hash the files of a folder that fit some patterns, such as ``rows/*.txt``."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in sorted(found)}


def write_manifest(folder: Path, hashes: Manifest) -> None:
    """Write down what each file holds."""
    replace_file(folder / MANIFEST, to_json(dict(hashes)))


def read_manifest(folder: Path) -> dict[str, str]:
    """Read the hashes of a folder's files; without them nothing tells what was changed."""
    path = folder / MANIFEST
    if not path.is_file():
        raise DamagedFileError(
            f"{path} is missing, which tells whether {folder / RECORD} and the other files are as"
            f" they were written. {ADVICE}"
        )
    with reading(path):
        return parse_manifest(path.read_bytes(), path)


def parse_manifest(content: bytes, path: Path) -> dict[str, str]:
    """Read hashes from the content of a manifest."""
    manifest = parse_object(content, path)
    for name, sha256 in manifest.items():
        if not isinstance(sha256, str) or not _HASH.fullmatch(sha256):
            raise DamagedFileError(
                f"{path}: {name} is {shown(sha256)}, not a SHA-256 of 64 hex digits. {ADVICE}"
            )
    return manifest


def read_sealed(path: Path) -> bytes:
    """Read a file; one that lies in a finished run must be what the run wrote."""
    if not path.exists() and is_listed(path):
        raise DamagedFileError(missing(path))
    with reading(path):
        content = path.read_bytes()
    refuse_other_content(path, hashlib.sha256(content).hexdigest())
    return content


def refuse_other_content(path: Path, sha256: str) -> None:
    """Refuse a file of a finished run that the run did not write, or not like this."""
    folder = _finished_run_around(path)
    if folder is None:
        return
    name = path.absolute().relative_to(folder).as_posix()
    if name == MANIFEST:
        return
    wanted = read_manifest(folder).get(name)
    if wanted is None:
        raise DamagedFileError(
            f"{path} is not a file that the run wrote: {folder / MANIFEST} does not list it."
            " Remove or rename it."
        )
    if wanted != sha256:
        raise DamagedFileError(changed(path))


def changed(path: Path) -> str:
    """Say that a file does not hold what its manifest says."""
    return (
        f"{path} is not what the run wrote: damaged or replaced (its SHA-256 is another than in"
        f" {MANIFEST}). {ADVICE}"
    )


def missing(path: Path) -> str:
    """Say that a file is gone which its manifest lists."""
    return f"{path} is missing, but {MANIFEST} lists it. {ADVICE}"


def is_listed(path: Path) -> bool:
    """Whether a file lies in a finished run that wrote it."""
    folder = _finished_run_around(path)
    if folder is None:
        return False
    return path.absolute().relative_to(folder).as_posix() in read_manifest(folder)


def differences_from_manifest(folder: Path) -> list[str]:
    """Say of every listed file what is wrong with it, if anything."""
    problems = []
    for name, sha256 in read_manifest(folder).items():
        path = folder / name
        if not path.is_file():
            problems.append(missing(path))
        elif sha256_of(path) != sha256:
            problems.append(changed(path))
    return problems


def _finished_run_around(path: Path) -> Path | None:
    """Return the finished run that a file lies in, if it lies in one."""
    for folder in list(path.absolute().parents)[:DEEPEST]:
        if (folder / RECORD).is_file() and (folder / MANIFEST).is_file():
            return folder
    return None
