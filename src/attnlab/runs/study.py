"""A study: runs that belong together, in one folder with a ``study.json`` that names them.

    study.json          job, settings, title, notes, the runs that are compared, every cell
    cells/NAME.yaml     a cell's settings, as its command reads them
    NAME/               the run directory of a cell

A user may write a ``study.json`` by hand: `{"title": "…", "runs": ["a", "b"]}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.errors import DamagedFileError, UserError
from attnlab.runs.directory import METRICS, RECORD, Run, RunPlace
from attnlab.runs.files import naming_the_path, read_json, replace_file, to_json
from attnlab.runs.folders import (
    FORMAT,
    is_free,
    make_folder,
    refuse_other_format,
    refuse_other_settings,
    remove_folder,
)

STUDY, CELLS = "study.json", "cells"


@dataclass(frozen=True)
class StudyOutcome:
    """What a study comes to when all of its cells are finished."""

    compared: Sequence[str]
    """The runs that are compared, in the order to show them in."""
    notes: Sequence[str] = ()
    """What a reader should know as well."""
    featured: str | None = None
    """The run whose answers are worth showing."""


@dataclass(frozen=True)
class Study:
    """A folder of runs with a title."""

    path: Path
    title: str | None
    runs: Sequence[str]
    """Names of the runs that are compared, which are folders next to the file."""
    notes: Sequence[str] = ()
    """What a reader should know as well."""
    job: str | None = None
    """The job that it is; None if a user wrote the file."""
    featured: str | None = None
    """The run whose answers are worth showing."""
    cells: Sequence[Mapping[str, Any]] = ()
    """Every cell that is planned by now: name, job, needs, command."""
    is_closed: bool = False
    """Whether what its cells come to is written down."""
    is_new: bool = False
    """Whether this object made the folder."""

    @classmethod
    def begin(
        cls, job: str, settings: Mapping[str, Any], place: RunPlace, *, title: str
    ) -> "Study":
        """Make the folder of a study, or continue the one that has these settings."""
        path = place.path(job, settings)
        wanted = {"job": job, "settings": settings}
        is_new = False
        if is_free(path):
            content = {"format": FORMAT, **wanted, "title": title, "notes": [], "runs": []}
            is_new = make_folder(path, STUDY, content | {CELLS: []})
        if not (path / STUDY).exists():
            raise UserError(f"{path} exists and is not a study. Choose another --name.")
        there = read_json(path / STUDY)
        refuse_other_format(path, there)
        refuse_other_settings(f"study {path}", there, wanted)
        return replace(cls.open(path), is_new=is_new)

    @classmethod
    def open(cls, path: Path) -> "Study":
        """Open a study to read it."""
        study = read_json(path / STUDY)
        names = study.get("runs")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UserError(f"{path / STUDY} must name its runs in a list called 'runs'.")
        cells = study.get(CELLS, [])
        if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
            raise DamagedFileError(f"{path / STUDY}: each of its cells needs a name and a job.")
        if "job" in study:
            refuse_other_format(path, study)
        notes = study.get("notes")
        lines = [str(note) for note in notes] if isinstance(notes, list) else []
        title, job, featured = (
            str(study[key]) if study.get(key) else None for key in ("title", "job", "featured")
        )
        return cls(path, title, names, lines, job, featured, cells, bool(study.get("closed")))

    def plan(self, cells: Sequence[tuple[Mapping[str, Any], str]]) -> None:
        """Name the cells that are known by now, each with the settings that its command reads."""
        folder = self.path / CELLS
        with naming_the_path(folder):
            folder.mkdir(exist_ok=True)
        for cell, config in cells:
            file = folder / f"{cell['name']}.yaml"
            if not file.exists() or file.read_bytes() != config.encode():
                replace_file(file, config.encode())
        content = read_json(self.path / STUDY)
        planned = [dict(cell) for cell, _ in cells]
        if content.get(CELLS) != planned:
            replace_file(self.path / STUDY, to_json(content | {CELLS: planned}))

    def close(self, outcome: StudyOutcome) -> None:
        """Write down what the study came to."""
        content = read_json(self.path / STUDY) | {
            "notes": list(outcome.notes),
            "runs": list(outcome.compared),
            "featured": outcome.featured,
            "closed": True,
        }
        replace_file(self.path / STUDY, to_json(content))

    def discard_if_untouched(self) -> None:
        """Remove a folder that this object made and in which no model has worked yet."""
        worked = any(self.path.glob(f"*/{METRICS}")) or any(
            run.finished and "hardware" in run.config["resolved"] for run in self.begun()
        )
        if self.is_new and not worked:
            remove_folder(self.path)

    @property
    def is_finished(self) -> bool:
        """Whether it is closed and every cell is still there, finished."""
        records = [self.path / cell["name"] / RECORD for cell in self.cells]
        return self.is_closed and all(record.exists() for record in records)

    def begun(self) -> list[Run]:
        """Open every cell that has been begun; of a file that a user wrote, the runs it names."""
        names = [cell["name"] for cell in Study.open(self.path).cells] or self.runs
        folders = [self.path / name for name in names]
        return [Run.open(folder) for folder in folders if folder.exists()]

    def opened(self) -> list[Run]:
        """Open the runs that are compared; of an unfinished study, those that have scores yet."""
        if self.runs:
            return [Run.open(self.path / name) for name in self.runs]
        scored = [run for run in self.begun() if run.finished and run.record["scores"]]
        if not scored:
            raise UserError(
                f"the study {self.path} has no runs to compare yet; repeat its command to"
                " resume it."
            )
        return scored


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, dict) and all(isinstance(cell.get(key), str) for key in ("name", "job"))
