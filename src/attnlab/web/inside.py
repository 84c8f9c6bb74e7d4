"""Which folder a name means: a run or study inside the runs folder, and nothing else."""

from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.folders import no_such_run
from attnlab.runs.lookup import names_in


def run_folder(name: str, root: Path) -> Path:
    """Return the folder of a run or study by its name in the list.

    A name that is not in the list, such as a path with dots or an absolute one, is never joined to
    anything. A run that is, or holds, a link that leads out of the runs folder is refused.
    """
    known = names_in(root)
    if name not in known:
        raise no_such_run(name, root, known)
    if link := link_out(root / name, root):
        raise UserError(leads_out(link, root))
    return root / name


def link_out(folder: Path, root: Path) -> Path | None:
    """Return a folder, or the first link in it, that ends outside ``root``; None if none does."""
    links = (path for path in folder.rglob("*") if path.is_symlink())
    return next((path for path in (folder, *links) if not is_inside(path, root)), None)


def leads_out(link: Path, root: Path) -> str:
    """Say that a link is not followed."""
    return f"{link} is a link that leads out of {root}; the page does not follow it."


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path, with all of its links followed, ends in a folder or is that folder."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # it links to itself
        return False
