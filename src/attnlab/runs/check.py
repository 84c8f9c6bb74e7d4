"""Checks every file of a run or study: is it what was written, and has it the fields it needs?"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attnlab.errors import UserError
from attnlab.runs.directory import RECORD, Run
from attnlab.runs.fields import State
from attnlab.runs.files import read_json
from attnlab.runs.manifest import differences_from_manifest
from attnlab.runs.shapes import check_shape
from attnlab.runs.study import STUDY, Study


def file_problems(path: Path) -> list[str]:
    """Return a line for every file of a run, or of a study and its runs, that is not as written.

    A file that nobody but the user wrote is left alone.
    """
    of_folder = _study_problems if (path / STUDY).exists() else _run_problems
    return list(dict.fromkeys(of_folder(path)))


def _study_problems(path: Path) -> Iterator[str]:
    if found := _problem(Study.open, path):
        yield found
        return
    study = Study.open(path)
    for name in [cell["name"] for cell in study.cells] or study.runs:
        if (path / name).exists() or study.is_closed:
            yield from _run_problems(path / name)


def _run_problems(path: Path) -> Iterator[str]:
    folders = [path] if (path / RECORD).exists() else []
    states = sorted(path.glob("checkpoints/step-*/state.json"))
    for folder in [*folders, *(state.parent for state in states)]:
        try:
            yield from differences_from_manifest(folder)
        except UserError as error:
            yield str(error)
    run, splits = Run(path), sorted(path.glob("predictions/*.jsonl"))
    found = [
        *(_problem(_read_state, state) for state in states),
        _problem(Run.open, path) or _problem(run.check),
        *(_problem(run.predictions, file.stem) for file in splits),
    ]
    yield from filter(None, found)


def _read_state(path: Path) -> None:
    check_shape(read_json(path), State, path)


def _problem(look: Callable[..., Any], *given: Any) -> str | None:
    """Look at something, and return what is wrong with it, if anything."""
    try:
        look(*given)
    except UserError as error:
        return str(error)
    return None
