"""Mistakes in whole submissions, to test that a grader catches each of them by name."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Mistake(NamedTuple):
    """A mistake, the part and the check that fail because of it, and what the report says."""

    name: str
    make: Callable[[Path], object]
    part: str
    check: str
    said: str


def write(path: Path, lines: list[str]) -> None:
    """Write predictions."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def edit(name: str, change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    """Return what changes the lines of a file."""

    def make(folder: Path) -> None:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        write(folder / name, change(lines))

    return make


def rename(name: str, to: str) -> Callable[[Path], object]:
    """Return what gives a file another name."""
    return lambda folder: (folder / name).rename(folder / to)


def replace(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Return what replaces a piece of code."""

    def make(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return make
