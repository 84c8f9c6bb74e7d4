"""Lists of models that have one name: what a course compares, or what this machine has instead."""

import sys
from collections.abc import Iterator, Sequence

from attnlab.assets.catalogue import names_of
from attnlab.assets.hub import other_names
from attnlab.assets.local import local_assets, substituted_paths
from attnlab.assets.models import find_model
from attnlab.assets.substitutions import substitutions
from attnlab.errors import DamagedFileError, UserError

LISTS = {
    "boolq-course": (
        "distilbert-base-uncased",
        "bert-base-uncased",
        "bert-large-uncased",
        "bert-large-cased",
        "roberta-base",
        "roberta-large",
    )
}
_told: set[str] = set()
"""What the user was told already: once is enough."""


def named_models(name: str) -> Sequence[str]:
    """Return the models of a list; any other name stands for itself.

    Where some cannot be had, the models of ``attnlab assets list`` that need no hub take their
    place, and the user is told.
    """
    if name not in LISTS:
        return [name]
    had = list(_to_be_had(LISTS[name]))
    missing = [one for one in LISTS[name] if one not in had]
    if not missing:
        return had
    known = {*had, *(substitutions().get(one) for one in had)}  # the same model is compared once
    here = dict.fromkeys([*names_of("model"), *substituted_paths("model")])
    found = [*had, *(one for one in here if one not in known)]
    _tell(f"{name}: {', '.join(missing)} cannot be had here. Compared instead: {', '.join(found)}.")
    return found


def _to_be_had(names: Sequence[str]) -> Iterator[str]:
    """Give the names that have a model here or on the hub; out of reach, the hub is asked once."""
    here, is_reachable = {*substitutions(), *local_assets("model")}, True
    for name in names:
        if here & {name, *other_names(name)}:
            yield name
        elif is_reachable:
            try:
                find_model(name)
                yield name
            except DamagedFileError:
                raise
            except UserError:
                is_reachable = False


def _tell(line: str) -> None:
    if line not in _told:
        _told.add(line)
        print(line, file=sys.stderr)
