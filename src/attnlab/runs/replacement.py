"""Replaces a run by another: the old one goes only when the new one is finished.

    OUTPUT/                     the old run, and whatever a user has put into its folder
    .OUTPUT.replacement/OUTPUT  the new run until it is finished

A kill at any moment leaves one of the two whole, and the next command goes on from there.
"""

from fnmatch import fnmatchcase
from pathlib import Path

from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.files import naming_the_path
from attnlab.runs.folders import is_free, remove_folder
from attnlab.runs.lock import LOCK

OWN_FILES = (
    *("config.json", "metrics.jsonl", "record.json", "manifest.json", "failure.json", LOCK),
    *("language_model.json", "checkpoints/*step-*/*", "predictions/*.jsonl", "rows/*.txt"),
    *("model/config.json", "model/model.safetensors", "model/tokenizer_config.json"),
    *(
        "model/vocab.txt",
        "model/own.safetensors",
        "report/report.html",
        "report/report.md",
        "report/figures/*.png",
    ),
    *("report/figures/*.svg", ".*.tmp", "*/.*.tmp"),
)
"""What attnlab writes into a run; anything else there is the user's."""


def beside(output: Path) -> RunPlace:
    """Return where the run that is to replace another is made."""
    return RunPlace(output.with_name(f".{output.name}.replacement"), output.name)


def new_run(output: Path) -> Run | None:
    """Open the run that is to replace another, if one was begun."""
    path = beside(output).root / output.name
    return None if is_free(path) else Run.open(path)


def discard_new(output: Path) -> None:
    """Remove a new run that is no longer wanted, and that nobody works on."""
    if new := new_run(output):
        with new:
            remove_folder(new.path)


def put_in_place(output: Path) -> None:
    """Put a finished new run in the place of the old one, with the user's own files.

    Until the last rename the new run lies beside, whole; each part can be done again.
    """
    new = new_run(output)
    if new is None or not (new.path / RECORD).exists():
        return
    with new, naming_the_path(output):
        if output.exists():
            with Run(output):  # nobody is working on it
                _remove_own_files(output)
                _move_files(output, new.path)
                output.rmdir()
        new.path.rename(output)
    remove_if_empty(beside(output).root)


def is_own_file(path: str) -> bool:
    """Say whether attnlab writes a file of that path into a run."""
    parts = path.count("/")
    return any(fnmatchcase(path, pattern) and parts == pattern.count("/") for pattern in OWN_FILES)


def _remove_own_files(folder: Path) -> None:
    for path in _files(folder):
        if is_own_file(path.relative_to(folder).as_posix()):
            path.unlink()


def _move_files(source: Path, target: Path) -> None:
    """Move what is left to another folder, and remove the folders that held it."""
    for path in _files(source):
        moved = target / path.relative_to(source)
        moved.parent.mkdir(parents=True, exist_ok=True)
        if moved.exists():
            path.unlink()  # the new run has written one too, so it is ours
        else:
            path.rename(moved)
    folders = [path for path in source.rglob("*") if path.is_dir()]
    for path in sorted(folders, reverse=True):  # the inner ones first
        path.rmdir()


def _files(folder: Path) -> list[Path]:
    """Return everything below a folder that is not a folder; links are files."""
    return [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]


def remove_if_empty(folder: Path) -> None:
    """Remove a folder that holds nothing."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
