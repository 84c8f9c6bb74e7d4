"""The folders of runs and studies: how they are named, made, recognized and removed.

A kill at any moment leaves nothing that is in the way. A folder is made under its own name, and
counts as free until its JSON file is there. It goes under another name first, so that no half of it
is ever visible; what a kill left there goes with the next command.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attnlab.errors import NotFoundError, UserError, did_you_mean
from attnlab.runs.files import naming_the_path, replace_file, to_json
from attnlab.runs.lock import LOCK, hold
from attnlab.runs.references import absolute_path
from attnlab.runs.shapes import shown

FORMAT = 3
"""How runs are kept; 2 had no manifest, 1 no hashes of rows and other names in predictions."""
LONGEST_NAME = 200
LEFTOVERS = {LOCK, ".config.json.tmp", ".study.json.tmp"}
"""All that a kill leaves in a folder that was being made."""
_REMOVED = re.compile(r"\..+\.\d+\.removed")
"""A folder on its way out: no process reads it, so that any may finish what a kill cut short."""
_UNNAMED = re.compile(r"\..+\.\d+\.tmp")
"""A folder that an earlier version was making, with one file in it, when it was killed."""


def run_name(job: str, settings: Mapping[str, Any], name: str | None = None) -> str:
    """Return the chosen name, or the job and eight hex digits of its settings."""
    if name is None:
        canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return f"{job}-{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"
    plain = name and name.isprintable() and not name.startswith(".") and "/" not in name
    if not plain or len(name.encode()) > LONGEST_NAME:
        raise UserError(
            f"--name {name!r} is not possible: it must be a plain folder name of at most"
            f" {LONGEST_NAME} bytes."
        )
    return name


def folders_in(root: Path) -> list[Path]:
    """Return the folders in a folder that are not hidden; none if there is no such folder."""
    if not root.is_dir():
        return []
    return sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))


def no_such_run(name: str, root: Path, known: Iterable[str]) -> NotFoundError:
    """Build the error for a run that is not there."""
    return NotFoundError(
        f"there is no run {name!r} in {root}.{did_you_mean(name, known)} `attnlab runs list` lists"
        " the existing ones."
    )


def is_free(path: Path) -> bool:
    """Say whether there is nothing yet, or a folder with nothing but what a kill left of ours."""
    if not path.exists():
        return True
    return path.is_dir() and {entry.name for entry in path.iterdir()} <= LEFTOVERS


def make_folder(path: Path, name: str, content: Mapping[str, Any]) -> bool:
    """Make a folder with one JSON file in it; return False if another process was quicker.

    The folder's lock decides between two processes.
    """
    for parent in path.parents:
        if parent.exists() and not parent.is_dir():
            raise UserError(f"--runs {path.parent} is not possible: {parent} is not a folder.")
    with naming_the_path(path):
        path.mkdir(parents=True, exist_ok=True)
    clear_leftovers(path.parent)
    with hold(path):
        if not is_free(path):
            return False
        replace_file(path / name, to_json(content))
        for left in LEFTOVERS - {LOCK}:
            (path / left).unlink(missing_ok=True)
    return True


def remove_folder(path: Path) -> None:
    """Remove a folder of ours with everything in it; under its own name it is gone at once."""
    with naming_the_path(path):
        doomed = path.with_name(f".{path.name}.{os.getpid()}.removed")
        shutil.rmtree(doomed, ignore_errors=True)
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)  # another process may be clearing it as well
        with suppress(FileNotFoundError):
            shutil.rmtree(doomed)  # what is still there has a reason, which is the error


def clear_leftovers(root: Path) -> None:
    """Remove what kills have left of folders that were being removed, or made."""
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink() and _is_leftover(entry):
            shutil.rmtree(entry, ignore_errors=True)


def _is_leftover(folder: Path) -> bool:
    if _UNNAMED.fullmatch(folder.name):
        return {entry.name for entry in folder.iterdir()} <= {"config.json", "study.json"}
    return _REMOVED.fullmatch(folder.name) is not None


def refuse_other_format(path: Path, content: Mapping[str, Any]) -> None:
    """Refuse what another version of attnlab has kept in another way."""
    there = content.get("format", 1)
    if there != FORMAT:
        version = "an earlier" if there in range(1, FORMAT) else "another"
        there = shown(there)
        raise UserError(
            f"{path} was made by {version} version of attnlab, which kept runs differently (format"
            f" {there}, now {FORMAT}). Run its command again with another --name, or delete that"
            " folder first."
        )


def refuse_other_settings(what: str, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse a run or study of the same name that is of another job or has other settings."""
    as_stored = json.loads(json.dumps(wanted))
    changes = differences({key: there.get(key) for key in wanted}, as_stored)
    listed = "; ".join(
        f"{key}: {old!r} there, {new!r} now"
        for key, old, new in changes
        if not _is_same_path(old, new)
    )
    if listed:
        raise UserError(
            f"the {what} exists with other settings ({listed}). Choose another --name, or delete"
            " that folder."
        )


def _is_same_path(old: Any, new: Any) -> bool:
    """Say whether two texts are one path: a model's folder that is gone now looks like a name."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return all(a == b or _is_same_path(a, b) for a, b in zip(old, new, strict=True))
    both_texts = isinstance(old, str) and isinstance(new, str)
    return both_texts and bool(old and new) and absolute_path(old) == absolute_path(new)


def differences(old: Any, new: Any, path: str = "") -> Iterable[tuple[str, Any, Any]]:
    """Yield the dotted key and both values wherever two nested mappings differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield path.removeprefix("settings."), old, new
