"""Finds a run or study by the name that a user gives, wherever a command takes one."""

import os
from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.directory import CONFIG
from attnlab.runs.folders import folders_in, no_such_run
from attnlab.runs.references import FileReference, absolute_path
from attnlab.runs.study import STUDY

RUNS, VARIABLE = Path("runs"), "ATTNLAB_RUNS"


class RunReference(FileReference):
    """Marks a setting that names a run: ``run: Annotated[str, RunReference()]``.

    A name is looked up in the folder of runs; the setting then holds the absolute path, so that the
    same command finds the same run from any folder.
    """

    def absolute(self, value: str, runs: Path) -> str:
        """Return where the run or the file of weights is, or would be."""
        return where_a_run_is(value, runs)


def default_root() -> Path:
    """Return the folder of runs where --runs is not given."""
    return Path(os.environ.get(VARIABLE) or RUNS)


def find_run(name: str, root: Path) -> Path:
    """Return the path of a run, study or file of weights: by its name below ``root``, or its path.

    Of a run that is named and a folder that only has the same path, the run is meant.
    """
    there = [path for path in (root / name, Path(name)) if path.exists()]
    of_ours = [path for path in there if is_run_or_study(path)]
    if not there:
        raise no_such_run(name, root, names_in(root))
    return (of_ours or there)[0]


def where_a_run_is(name: str, root: Path) -> str:
    """Return the absolute path of a run or file of weights, or where a run would be.

    A finished job outlives its source.
    """
    try:
        path = find_run(name, root)
    except UserError:
        return str((Path(name) if os.sep in name else root / name).resolve())
    return str(path.resolve()) if path.is_dir() else absolute_path(str(path))


def names_in(root: Path) -> list[str]:
    """Return the names of the runs and studies of a folder, and of a study's runs below it."""
    names = []
    for path in folders_in(root):
        if is_run_or_study(path):
            names.append(path.name)
        if not (path / CONFIG).exists():
            names += [f"{path.name}/{run.name}" for run in folders_in(path) if is_run_or_study(run)]
    return names


def as_typed(path: Path) -> str:
    """Return the shortest text by which a command finds a run: its name, or else its path."""
    try:
        return str(path.resolve().relative_to(default_root().resolve()))
    except ValueError:
        return str(path)


def is_run_or_study(path: Path) -> bool:
    """Say whether a folder looks like one, without reading it."""
    return (path / CONFIG).exists() or (path / STUDY).exists()
