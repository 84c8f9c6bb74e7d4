"""Finds the file that a path, or the name of a dataset, stands for."""

from pathlib import Path

from attnlab.assets.catalogue import ASSETS, names_of
from attnlab.assets.local import with_local_names
from attnlab.assets.packages import asset_folder, get_asset
from attnlab.assets.substitutions import substitute, substitutions
from attnlab.errors import UserError, did_you_mean
from attnlab.runs.references import STANDARD_INPUT, FileReference, absolute_path, from_home


class DatasetReference(FileReference):
    """Marks a setting that names a file or a dataset; a dataset's name stays as it is."""

    def absolute(self, value: str, runs: Path) -> str:  # noqa: ARG002 - as every reference
        """Write the path of a file, there or not, so that it is found from any folder."""
        is_path = value != STANDARD_INPUT and not is_name(value)
        return absolute_path(value) if is_path else value


def dataset_file(reference: str, split: str) -> Path:
    """Return the file of a path or of a dataset's split, which may have yet to be fetched.

    ``NAME`` stands for the split that is asked for, ``NAME:SPLIT`` for any other.
    """
    name, chosen = _parts(reference)
    if name is None:
        return Path(_instead_of(reference))
    wanted = chosen or split
    if wanted not in splits_of(name):
        known = " or ".join(f"{name}:{one}" for one in splits_of(name))
        raise UserError(f"{reference}: {name} has no split {wanted!r}. Give {known}.")
    return asset_folder(name) / f"{wanted}.jsonl"


def is_name(reference: str) -> bool:
    """Say whether a text is a name that stands for a file, rather than a path."""
    return _parts(reference)[0] is not None or _instead_of(reference) != reference


def has_split(reference: str, split: str) -> bool:
    """Say whether a text names a whole dataset that has such a split."""
    name, chosen = _parts(reference)
    return name is not None and not chosen and split in splits_of(name)


def get_dataset(reference: str) -> None:
    """Fetch the dataset that a text names; a file must be there already."""
    if not from_home(reference).exists():
        substitute(reference)  # tells the user
    name, _ = _parts(reference)
    with with_local_names("data"):
        if name is not None:
            get_asset(name)
        elif not Path(path := _instead_of(reference)).exists():
            near = did_you_mean(Path(reference).name, names_of("data"))
            raise UserError(f"there is no file {path}.{near}")


def splits_of(name: str) -> list[str]:
    """Return the splits that a dataset has."""
    return [Path(file).stem for file in ASSETS[name].files]


def _parts(reference: str) -> tuple[str | None, str]:
    """Take ``boolq:dev`` apart; what is a file, or no name of ours, has no name."""
    if from_home(reference).exists():
        return None, ""
    name, _, split = _instead_of(reference).partition(":")
    return (name, split) if name in names_of("data") else (None, "")


def _instead_of(reference: str) -> str:
    if from_home(reference).exists():
        return reference
    return substitutions().get(reference, reference)
