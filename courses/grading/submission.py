"""A submission is a student's folder, or a zip of it."""

import contextlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from attnlab.errors import UserError, did_you_mean

UNWRITTEN = re.compile(r'raise NotImplementedError\("(.*?)\.?"\)')
NOTEBOOKS = (".py", ".ipynb")
"""The documents ask for notebooks downloaded as Python files; we take both."""
LARGEST = 2 * 2**30
"""Bytes that a zip may unpack to."""


def student_of(path: Path) -> str:
    """Return whose submission it is: the name of the folder or the zip."""
    path = path.resolve()
    name = path.name if path.is_dir() else path.stem
    return name.removeprefix("assignment_")


@contextlib.contextmanager
def opened(path: Path, wanted: Sequence[str]) -> Iterator[Path]:
    """Yield the folder that holds one of the wanted names; unpack a zip into a temporary one."""
    if path.is_dir():
        yield _only_one(path, path, wanted)
    elif zipfile.is_zipfile(path):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _unpack(path, folder)
            yield _only_one(folder, path, wanted)
    elif path.exists():
        raise UserError(f"{path} is neither a folder nor a zip.")
    else:
        raise UserError(f"there is no {path}.")


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
            if size > LARGEST:
                raise UserError(f"{path} unpacks to {size:,} bytes; at most {LARGEST:,} are taken.")
            packed.extractall(folder)  # it leaves out absolute paths and ..
    except (OSError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise UserError(f"{path} cannot be unpacked: {error}.") from None


def _only_one(folder: Path, path: Path, wanted: Sequence[str]) -> Path:
    """Find the submission in the folder itself or in one folder in it; several are refused."""
    entries = sorted(folder.iterdir())
    inner = [e for e in entries if e.is_dir() and not e.name.startswith((".", "__MACOSX"))]
    found = [place for place in (folder, *inner) if any((place / name).exists() for name in wanted)]
    if len(found) == 1:
        return found[0]
    packed = [entry.name for entry in entries if entry.suffix == ".zip"]
    names = [place.name if place != folder else "the folder itself" for place in found] or packed
    if len(names) > 1:
        some = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        raise UserError(
            f"{path} holds {len(names)} submissions: {some}. Give one folder or zip per student,"
            f" such as {path}/*."
        )
    near = did_you_mean(
        wanted[0], (entry.name for place in (folder, *inner) for entry in _in(place))
    )
    raise UserError(
        f"{path} holds no {' or '.join(wanted)}: give the folder or the zip of a submission.{near}"
    )


def chosen_notebook(folder: Path, name: str, wanted: Sequence[str]) -> tuple[Path | None, str]:
    """Return the file of a notebook to grade, and what a student should know about the choice."""
    files = [folder / f"{name}{suffix}" for suffix in NOTEBOOKS]
    there = [file for file in files if file.is_file()]
    if not there:
        others = {path.name for path in folder.iterdir()} - set(wanted)
        near = did_you_mean(f"{name}.ipynb", sorted(others))
        return None, f"there is no {name}.ipynb and no {name}.py.{near}"
    unread = [f"{there[0].name} is graded, {file.name} is not read" for file in there[1:]]
    return there[0], "".join(unread)


def unwritten(folder: Path) -> list[str]:
    """Return what the lines say that stand in a folder's files where something is to be written."""
    files = sorted(folder.glob("*.py"))
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return [match[1] for text in texts for match in UNWRITTEN.finditer(text)]


def _in(place: Path) -> list[Path]:
    return sorted(place.iterdir())
