"""Packs a submission of a course: files of a folder, and a MANIFEST of them all."""

import difflib
import hashlib
import re
import sys
import zipfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from attnlab.errors import UserError
from attnlab.guard import guarded

USAGE = "usage: bash collect_submission.sh NAME   (letters, digits, - and _; e.g. ada_lovelace)"


def pack(name: str, folder: Path, find: Callable[[Path], Sequence[str]]) -> Path:
    """Write the files that ``find`` names; under another name first, so that no zip is half."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise UserError(f"NAME may have letters, digits, - and _ only, not {name!r}.")
    files = find(folder)
    target = folder / f"assignment_{name}.zip"
    partial = target.with_name(f".{target.name}.part")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in files:
                packed.write(folder / file, file)
            packed.writestr("MANIFEST", manifest(folder, files))
        partial.replace(target)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}.") from None
    finally:
        partial.unlink(missing_ok=True)
    return target


def need_files(folder: Path, wanted: Sequence[str]) -> None:
    """Refuse missing and empty files, all in one message; a similar name is offered."""
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        named = ", ".join(f"{name}{nearest(folder, name, known=wanted)}" for name in missing)
        raise UserError(f"missing in {folder}: {named}.")
    empty = [name for name in wanted if not (folder / name).stat().st_size]
    if empty:
        raise UserError(f"empty: {', '.join(empty)}.")


def nearest(folder: Path, name: str, *, known: Collection[str]) -> str:
    """Ask whether a file with a similar name is the one that is missing."""
    path = folder / name
    others = {file.name for file in path.parent.glob("*")} - {*known}
    near = difflib.get_close_matches(path.name, sorted(others), n=1, cutoff=0.8)
    return f" (is it {near[0]}?)" if near else ""


def manifest(folder: Path, files: Sequence[str]) -> str:
    """Return one line per file: SHA-256, size, name."""
    lines = []
    for name in files:
        content = (folder / name).read_bytes()
        lines.append(f"{hashlib.sha256(content).hexdigest()} {len(content)} {name}\n")
    return "".join(lines)


def main(find: Callable[[Path], Sequence[str]]) -> None:
    """Pack the current folder."""
    with guarded("collect_submission"):
        if sys.argv[1:] in (["-h"], ["--help"]):
            print(USAGE)
            return
        if len(sys.argv) != 2:
            print(USAGE, file=sys.stderr)
            sys.exit(2)
        target = pack(sys.argv[1], Path.cwd(), find)
        print(f"{target.name}: {target.stat().st_size:,} bytes. Hand it in.")
