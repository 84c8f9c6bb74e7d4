"""Writes files so that a crash leaves either the old version or the new one, never half."""

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attnlab.errors import DamagedFileError, UserError, WriteError

DEEPEST = 64
"""How deeply JSON may be nested."""
LONGEST_NUMBER = 300
"""Digits that a number may have: more than a float holds is not a number to compute with."""


@contextmanager
def naming_the_path(path: Path) -> Iterator[None]:
    """Turn an operating-system error (disk full, no permission) into one that names the path."""
    try:
        yield
    except OSError as error:
        raise WriteError(
            f"cannot write {path}: {error.strerror or error}. Nothing under its final name was"
            " touched; make room or fix the permission, then give the same command again."
        ) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an operating-system error into one that says which file cannot be read.

    A pipe is refused: we hash a file and read it, and the second time a pipe is empty.
    """
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UserError(f"{path} is not a plain file. Copy what it holds into one.")
        yield
    except FileNotFoundError:
        raise UserError(f"there is no file {path}.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder. Name a file in it.") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from None


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until the disk has a folder's entries, which makes a rename in it durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(path: Path) -> Path:
    """Return where a new version of a file is written; a kill may leave it there."""
    return path.with_name(f".{path.name}.tmp")


def replace_file(path: Path, content: bytes) -> None:
    """Put a whole new file in the place of ``path`` at once."""
    new = beside(path)
    with naming_the_path(path):
        try:
            write_synced(new, content)
            new.replace(path)
        except OSError:
            new.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def check_output(path: Path) -> None:
    """Refuse a path that ``replace_file`` cannot write to, before there is anything to write."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; give the name of a file.")
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a plain file, and would be replaced by one.")
        if not path.parent.is_dir():
            raise UserError(f"{path}: there is no folder {path.parent}.")
        beside(path).touch()
        beside(path).unlink()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot write {path}: {reason}. Give another path.") from None


def check_output_folder(path: Path) -> None:
    """Refuse a folder that cannot be made or written to, before there is anything to write."""
    try:
        there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        if not there.is_dir():
            raise UserError(f"{path} cannot be a folder: {there} is a file.")
        if not os.access(there, os.W_OK | os.X_OK):
            raise UserError(f"cannot write into {there}: Permission denied. Give another folder.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot write {path}: {reason}. Give another folder.") from None


def to_json(value: Any) -> bytes:
    """Encode as indented UTF-8 JSON with a final newline; NaN is refused, since JSON has none."""
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def sha256_of(path: Path) -> str:
    """Hash what a file holds."""
    with reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_files(files: Mapping[str, Path]) -> dict[str, str]:
    """Hash what each file holds."""
    return {name: sha256_of(path) for name, path in files.items()}


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say which file is missing or where it is broken."""
    with reading(path):
        content = path.read_bytes()
    return parse_object(content, path)


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object per line; a last line without its newline (a crash) is left out."""
    with reading(path):
        content = path.read_bytes()
    return parse_lines(content, path)


def parse_object(content: bytes, place: Path | str) -> dict[str, Any]:
    """Decode a JSON object; ``place`` is the file, or its line, for messages."""
    try:
        value = json.loads(content, **_STRICT)
        _refuse_unprintable(value, content)
    except json.JSONDecodeError as error:
        line = f":{error.lineno}" if isinstance(place, Path) else ""
        raise DamagedFileError(f"{place}{line} is not JSON: {error.msg}.") from None
    except UnicodeDecodeError as error:
        raise DamagedFileError(f"{place} is not UTF-8 at byte {error.start}.") from None
    except UnicodeEncodeError:
        raise DamagedFileError(f"{place} holds half of a character (a lone surrogate).") from None
    except RecursionError:
        raise DamagedFileError(f"{place} is nested too deeply.") from None
    except ValueError as error:  # a number that is none, or that nothing can hold
        raise DamagedFileError(f"{place} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise DamagedFileError(f"{place} must hold a JSON object, not {type(value).__name__}.")
    return value


def parse_lines(content: bytes, path: Path) -> list[dict[str, Any]]:
    """Decode one JSON object per line; a last line without its newline is left out."""
    lines = content.split(b"\n")[:-1]
    return [parse_object(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]


def _refuse_unprintable(value: Any, content: bytes) -> None:
    """Refuse what no screen or file takes: nesting without end, and halves of characters."""
    if content.count(b"{") + content.count(b"[") > DEEPEST:  # or it cannot be that deep
        _refuse_depth(value)
    if b"\\ud" in content.lower():
        json.dumps(value, ensure_ascii=False).encode()


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise RecursionError


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:LONGEST_NUMBER]} is no finite number")
    return value


_STRICT: Mapping[str, Any] = {
    "parse_int": _whole,
    "parse_float": _finite,
    "parse_constant": _finite,
}
