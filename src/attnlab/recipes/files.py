"""The files that a run reads: hashed when it begins, refused if they have changed since."""

from collections.abc import Mapping
from pathlib import Path

from attnlab.errors import UserError
from attnlab.phases import phase
from attnlab.runs.directory import Run
from attnlab.runs.files import sha256_of_files
from attnlab.runs.manifest import is_listed, refuse_other_content

HASHES = "data"
"""Where a run keeps the hashes of its files, by the name of the setting."""


def need(value: str, what: str) -> None:
    """Refuse to begin without something."""
    if not value:
        raise UserError(f"there is nothing to do: give {what}.")


@phase("hashing files")
def refuse_changed_files(run: Run, files: Mapping[str, Path]) -> None:
    """Refuse files that hold something else by now; those of a finished run may be gone."""
    if run.finished:
        files = {name: path for name, path in files.items() if path.exists()}
    now = sha256_of_files(files)
    for name, path in files.items():
        if is_listed(path):  # a file that another run wrote: its world, or its record
            refuse_other_content(path, now[name])
    begun_with = run.resolve_once(HASHES, lambda: now)
    changed = [str(files[name]) for name in files if begun_with.get(name) != now[name]]
    if changed:
        raise run.has_changed(", ".join(changed))
