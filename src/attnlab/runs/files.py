"""Writes files so that a crash leaves either the old version or the new one, never half."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attnlab.errors import DamagedFileError, RunError, UserError

TOO_LARGE = "is too large to read: it nests thousands of brackets, or a number has that many digits"
"""What Python refuses to decode."""


@contextmanager
def naming_the_path(path: Path) -> Iterator[None]:
    """Turn an operating-system error (disk full, no permission) into one that names the path."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"cannot write {path}: {error.strerror or error}. Nothing under its final name was"
            " touched; make room or fix the permission, then give the same command again."
        ) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an operating-system error into one that says which file cannot be read."""
    try:
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
    try:
        with reading(path):
            value = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise DamagedFileError(f"{path}:{error.lineno} is not JSON: {error.msg}.") from None
    except UnicodeDecodeError as error:
        raise DamagedFileError(f"{path} is not UTF-8 at byte {error.start}.") from None
    except (ValueError, RecursionError):
        raise DamagedFileError(f"{path} {TOO_LARGE}.") from None
    if not isinstance(value, dict):
        raise DamagedFileError(f"{path} must hold a JSON object, not {type(value).__name__}.")
    return value


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object per line; a last line without its newline (a crash) is left out."""
    rows = []
    with reading(path):
        content = path.read_bytes()
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise DamagedFileError(f"{path}:{number} is not JSON: {error}.") from None
        except (ValueError, RecursionError):
            raise DamagedFileError(f"{path}:{number} {TOO_LARGE}.") from None
        if not isinstance(row, dict):
            raise DamagedFileError(
                f"{path}:{number} must hold a JSON object, not {type(row).__name__}."
            )
        rows.append(row)
    return rows
