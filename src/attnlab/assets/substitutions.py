"""Names that stand for others, for machines that reach no hub: a file of ``name: path-or-name``.

    bert-base-uncased: models/bert        # a folder, seen from where this file is
    distilbert-base-uncased: all-MiniLM-L6-v2
    sst2: data/sst2/train.tsv

``ATTNLAB_ASSETS`` names the file; without it, ``assets.yaml`` in the cache folder is read if there
is one.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from attnlab.assets.cache import cache_folder
from attnlab.assets.catalogue import ASSETS
from attnlab.config import read_file
from attnlab.errors import UserError
from attnlab.runs.references import from_home

VARIABLE = "ATTNLAB_ASSETS"
_told: set[str] = set()
"""What the user was told already: once is enough."""


def substitution_file() -> Path | None:
    """Return the file of substitutions, if there is one."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return from_home(chosen)
    usual = cache_folder() / "assets.yaml"
    return usual if usual.is_file() else None


def substitutions() -> dict[str, str]:
    """Read which name stands for which path or other name."""
    file = substitution_file()
    if file is None:
        return {}
    found = {}
    for name, given in read_file(file).items():
        if not isinstance(given.value, str) or not given.value.strip():
            raise UserError(
                f"{given.origin}: {name} stands for {given.value!r}. Write a path, or the name of"
                " another model or dataset."
            )
        found[name] = _seen_from(file, given.value)
    return found


def substitute(name: str, *also_called: str) -> str:
    """Return what a name stands for, and tell the user; a name without a substitute stays."""
    known = substitutions()
    instead = next((known[one] for one in (name, *also_called) if one in known), name)
    line = f"{name} is substituted by {instead} ({substitution_file()})"
    if instead != name and line not in _told:
        _told.add(line)
        print(line, file=sys.stderr)
    return instead


def substituted_among(names: Iterable[str]) -> dict[str, str]:
    """Return what stands for something else, for the record of a run."""
    known = substitutions()
    return {name: known[name] for name in names if name in known and not Path(name).exists()}


def _seen_from(file: Path, target: str) -> str:
    """Write a path so that it is found from any folder; a name stays."""
    path = (file.parent / from_home(target)).resolve()
    looks_like_path = target.startswith((".", "/", "~")) or path.exists()
    return str(path) if looks_like_path and target not in ASSETS else target
