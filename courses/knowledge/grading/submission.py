"""A submission is a folder, or the zip that collect_submission.sh makes."""

import contextlib
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from attnlab.errors import UserError

LARGEST = 2 * 2**30
"""Bytes that a zip may unpack to."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yield the folder that holds src/; a zip is unpacked into a temporary folder."""
    if path.is_dir():
        yield _checked(path, path)
    elif zipfile.is_zipfile(path):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _unpack(path, folder)
            yield _checked(folder, path)
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


def _checked(folder: Path, path: Path) -> Path:
    """Find src/ in the folder itself or in the only folder in it."""
    inner = [folder, *(child for child in folder.iterdir() if child.is_dir())]
    found = next((place for place in inner if (place / "src").is_dir()), None)
    if found is None:
        raise UserError(f"{path} holds no folder src/: give the folder or the zip of a submission.")
    return found
