"""What a job that is started from the page may name: no code, and files of two folders only.

The page can start what attnlab is made of. A file of the user's own code, `path/to/file.py:Name`,
runs from the command line alone. Files and runs are read below the folder that the server was
started in, or below the runs folder; links are followed before that is decided. Models and datasets
may also be named as `attnlab assets list` or the hub names them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attnlab.config import SettingsError, describe, flatten, to_dict
from attnlab.registry import users_file
from attnlab.runs.references import reference_of
from attnlab.web.inside import is_inside

NO_CODE = (
    "A file of your own code is not run from the page: start this job on the command line instead."
)


def refuse_what_is_not_allowed(settings: Any, folders: Sequence[Path]) -> None:
    """Refuse settings, with absolute paths, that name code or a file outside of some folders."""
    reasons: dict[str, str] = {}
    fields = {field.key: field for field in describe(type(settings))}
    whole = {key for key, field in fields.items() if field.is_open}
    for key, value in flatten(to_dict(settings), whole=whole):
        texts = list(_texts(value))
        names_files = reference_of(fields[key].annotation) is not None
        if any(users_file(text) for text in texts):
            reasons[key] = NO_CODE
        elif names_files and (outside := _first_outside(texts, folders)):
            named = " or ".join(str(folder.resolve()) for folder in folders)
            reasons[key] = f"{outside} is not below {named}: the page reads no other files."
    if reasons:
        raise SettingsError(" ".join(f"{key}: {why}" for key, why in reasons.items()), reasons)


def _first_outside(texts: Sequence[str], folders: Sequence[Path]) -> str | None:
    """Return the first path that is in none of the folders; a name that is no path is nowhere."""
    paths = (text for text in texts if text.startswith(os.sep))
    return next((p for p in paths if not any(is_inside(Path(p), f) for f in folders)), None)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from (*_texts(key), *_texts(one))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
