"""Settings that name files: what a run keeps of them means the same from any folder."""

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from attnlab.registry import users_file

Settings = TypeVar("Settings")
STANDARD_INPUT = "-"


class FileReference:
    """Marks a setting that names a file: ``corpus: Annotated[str, FileReference()]``."""

    def absolute(self, value: Any, runs: Path) -> Any:  # noqa: ARG002 - a run is looked up there
        """Return the setting as a run keeps it; ``runs`` is the folder of runs."""
        return absolute_path(value)


class PartReference(FileReference):
    """Marks a setting that names a part of ours, or a user's own: ``path/to/file.py:Name``.

    In a mapping of options, any value may be one.
    """

    def absolute(self, value: Any, runs: Path) -> Any:
        """Write a user's file with its whole path; a name of ours stays as it is."""
        if isinstance(value, dict):
            return {name: self.absolute(option, runs) for name, option in value.items()}
        file = users_file(value) if isinstance(value, str) else None
        return f"{absolute_path(str(file))}:{value.rpartition(':')[2]}" if file else value


def absolute_path(path: str) -> str:
    """Write a path so that it is found from any folder.

    A link keeps its name, which says what format the file has; the folders before it are resolved.
    """
    given = from_home(path)
    return str(given.parent.resolve() / given.name)


def from_home(path: str) -> Path:
    """Put the home folder in place of ``~``; an unknown ~user stays, as in a shell."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib raises RuntimeError


def absolute_settings(settings: Settings, runs: Path) -> Settings:
    """Write every file and run that settings name so that they are found from any folder."""
    assert is_dataclass(settings)
    assert not isinstance(settings, type)
    hints = get_type_hints(type(settings), include_extras=True)
    found: dict[str, Any] = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            found[field.name] = absolute_settings(value, runs)
        elif value and (mark := reference_of(hints[field.name])):
            found[field.name] = mark.absolute(value, runs)
    changed: Settings = replace(settings, **found)
    return changed


def reference_of(annotation: Any) -> FileReference | None:
    """Return the mark of a setting that names a file or a run; None for any other."""
    marks = get_args(annotation)[1:]
    return next((mark for mark in marks if isinstance(mark, FileReference)), None)
