"""The files that a run reads: hashed when it begins, refused if they have changed since."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.phases import phase
from attnlab.registry import users_file
from attnlab.runs.directory import Run
from attnlab.runs.files import sha256_of_files
from attnlab.runs.manifest import is_listed, refuse_other_content

HASHES = "data"
"""Where a run keeps the hashes of its files, by the name of the setting."""


def need(value: str, what: str) -> None:
    """Refuse to begin without something."""
    if not value:
        raise UserError(f"there is nothing to do: give {what}.")


def absolute_path(path: str) -> str:
    """Write a path so that it is found from any folder; one that is not given stays so."""
    return str(Path(path).expanduser().resolve()) if path else ""


def absolute_attention(attention: AttentionSettings) -> AttentionSettings:
    """Write the files of a user's attention or positions so that they are found from any folder."""
    return replace(
        attention,
        name=_absolute_part(attention.name),
        positions=_absolute_part(attention.positions),
    )


def _absolute_part(reference: str) -> str:
    """Write ``path/to/file.py:Name`` with the whole path; a name of ours stays as it is."""
    file = users_file(reference)
    return f"{file.resolve()}:{reference.rpartition(':')[2]}" if file else reference


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
