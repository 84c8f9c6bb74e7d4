"""A study: runs that belong together, in one folder with a ``study.json`` that names them.

    study.json          job, settings, title, notes, the runs that are compared, every cell
    cells/NAME.yaml     a cell's settings, as its command reads them
    NAME/               the run directory of a cell
    manifest.json       SHA-256 of study.json; its presence means that the study is closed

A user may write a ``study.json`` by hand: `{"title": "…", "runs": ["a", "b"]}`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.errors import DamagedFileError, UserError
from attnlab.runs.directory import METRICS, RECORD, Run, RunPlace
from attnlab.runs.fields import StudyFile
from attnlab.runs.files import naming_the_path, parse_object, reading, replace_file, to_json
from attnlab.runs.folders import (
    FORMAT,
    LONGEST_NAME,
    is_free,
    make_folder,
    refuse_other_format,
    refuse_other_settings,
    remove_folder,
)
from attnlab.runs.manifest import MANIFEST, changed, hashes_of, read_manifest, write_manifest
from attnlab.runs.shapes import check_shape, shown

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
        there = read_study(path)
        refuse_other_format(path, there)
        refuse_other_settings(f"study {path}", there, wanted)
        return replace(cls.open(path), is_new=is_new)

    @classmethod
    def open(cls, path: Path) -> "Study":
        """Open a study to read it."""
        study = read_study(path)
        if "job" in study:
            refuse_other_format(path, study)
        return cls(
            path,
            study.get("title"),
            study["runs"],
            study.get("notes", []),
            study.get("job"),
            study.get("featured"),
            study.get(CELLS, []),
            (path / MANIFEST).exists(),
        )

    def plan(self, cells: Sequence[tuple[Mapping[str, Any], str]]) -> None:
        """Name the cells that are known by now, each with the settings that its command reads."""
        folder = self.path / CELLS
        with naming_the_path(folder):
            folder.mkdir(exist_ok=True)
        for cell, config in cells:
            file = folder / f"{cell['name']}.yaml"
            if not file.is_file() or file.read_bytes() != config.encode():
                replace_file(file, config.encode())
        content = read_study(self.path)
        planned = [dict(cell) for cell, _ in cells]
        if content.get(CELLS) != planned:
            (self.path / MANIFEST).unlink(missing_ok=True)  # it is open again
            replace_file(self.path / STUDY, to_json(content | {CELLS: planned}))

    def close(self, outcome: StudyOutcome) -> None:
        """Write down what the study came to; the manifest comes last and means closed."""
        content = read_study(self.path) | {
            "notes": list(outcome.notes),
            "runs": list(outcome.compared),
            "featured": outcome.featured,
        }
        (self.path / MANIFEST).unlink(missing_ok=True)
        replace_file(self.path / STUDY, to_json(content))
        write_manifest(self.path, hashes_of(self.path, [STUDY]))

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


def read_study(path: Path) -> dict[str, Any]:
    """Read study.json; that of a closed study must be what the study wrote."""
    file = path / STUDY
    with reading(file):
        content = file.read_bytes()
    if (path / MANIFEST).exists():
        wanted = read_manifest(path).get(STUDY)
        if wanted != hashlib.sha256(content).hexdigest():
            raise DamagedFileError(changed(file))
    study = parse_object(content, file)
    if not isinstance(study.get("runs"), list):
        raise UserError(f"{file} must name its runs in a list called 'runs'.")
    check_shape(study, StudyFile, file)
    for name in (*study["runs"], *(cell["name"] for cell in study.get(CELLS, []))):
        if not name.isprintable() or len(name.encode()) > LONGEST_NAME:
            raise DamagedFileError(f"{file}: {shown(name)} is no name of a run.")
    return study
