"""Removes a run or a study: that folder and nothing else."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.directory import CONFIG
from attnlab.runs.files import read_json
from attnlab.runs.folders import clear_leftovers, folders_in, remove_folder
from attnlab.runs.lock import hold
from attnlab.runs.study import STUDY, Study


def check_removable(path: Path) -> None:
    """Refuse what is not a run or a study, and a study's folder that holds other runs too."""
    if path.is_symlink():
        raise UserError(f"{path} is a link; remove the link itself.")
    if (path / STUDY).exists():
        study = Study.open(path)
        own = {*study.runs, *(cell["name"] for cell in study.cells)}
        others = [p.name for p in folders_in(path) if p.name not in own and (p / CONFIG).exists()]
        if others:
            raise UserError(
                f"{path} also holds runs that are not the study's ({', '.join(others)})."
                " Remove the runs one by one."
            )
    elif not (path / CONFIG).exists() or "job" not in read_json(path / CONFIG):
        raise UserError(f"{path} is neither a run nor a study, so nothing was removed.")


def remove(path: Path) -> None:
    """Remove a run or study that no process works on."""
    check_removable(path)
    with _held(path):
        remove_folder(path)
    clear_leftovers(path.parent)


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold every run that is about to go; refuse if another process works on one."""
    folders = [path] if (path / CONFIG).exists() else folders_in(path)
    with ExitStack() as stack:
        for folder in folders:
            if (folder / CONFIG).exists():
                stack.enter_context(hold(folder))
        yield
