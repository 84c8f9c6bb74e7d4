"""A study: runs that belong together, in one folder with a ``study.json`` that names them.

    study.json          job, settings, title, notes, the runs that are compared, every cell
    cells/NAME.yaml     a cell's settings, as its command reads them
    NAME/               the run directory of a cell

A user may write a ``study.json`` by hand: `{"title": "…", "runs": ["a", "b"]}`.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.errors import UserError
from attnlab.runs.directory import (
    FORMAT,
    METRICS,
    Run,
    RunPlace,
    differences,
    is_empty_folder,
    refuse_other_format,
    run_name,
)
from attnlab.runs.files import naming_the_path, read_json, replace_file, to_json

STUDY, CELLS = "study.json", "cells"


@dataclass(frozen=True)
class StudyOutcome:
    """What a study comes to when all of its cells are finished."""

    compared: Sequence[str]
    """The runs that are compared, in the order to show them in."""
    notes: Sequence[str] = ()
    """What a reader should know besides."""
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
    """What a reader should know besides."""
    job: str | None = None
    """The job that it is; None if a user wrote the file."""
    featured: str | None = None
    """The run whose answers are worth showing."""
    is_new: bool = False
    """Whether this object made the folder."""

    @classmethod
    def begin(
        cls, job: str, settings: Mapping[str, Any], place: RunPlace, *, title: str
    ) -> "Study":
        """Make the folder of a study, or go on with the one that has these settings."""
        path = place.root / run_name(job, settings, place.name)
        wanted = json.loads(json.dumps({"job": job, "settings": settings}))
        is_new = not (path / STUDY).exists()
        if not is_new:
            there = read_json(path / STUDY)
            refuse_other_format(path, there)
            changed = list(differences({k: there.get(k) for k in wanted}, wanted))
            if changed:
                told = "; ".join(f"{key}: {old!r} there, {new!r} now" for key, old, new in changed)
                raise UserError(
                    f"the study {path} exists with other settings ({told}). Choose another --name,"
                    " or delete that folder."
                )
        elif path.exists() and not is_empty_folder(path):
            raise UserError(f"{path} exists and is no study. Choose another --name.")
        else:
            with naming_the_path(path):
                path.mkdir(parents=True, exist_ok=True)
            content = {"format": FORMAT, **wanted, "title": title, "notes": [], "runs": []}
            replace_file(path / STUDY, to_json(content | {CELLS: []}))
        return replace(cls.open(path), is_new=is_new)

    @classmethod
    def open(cls, path: Path) -> "Study":
        """Open a study to read it."""
        study = read_json(path / STUDY)
        names = study.get("runs")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UserError(f"{path / STUDY} must name its runs in a list called 'runs'.")
        if "job" in study:
            refuse_other_format(path, study)
        notes = study.get("notes")
        told = [str(note) for note in notes] if isinstance(notes, list) else []
        title, job, featured = (
            str(study[key]) if study.get(key) else None for key in ("title", "job", "featured")
        )
        return cls(path, title, names, told, job, featured)

    def add_cell(self, cell: Mapping[str, Any], *, config: str) -> None:
        """Name one more cell, and write the settings that its command reads."""
        content = read_json(self.path / STUDY)
        if cell not in content[CELLS]:
            with naming_the_path(self.path / CELLS):
                (self.path / CELLS).mkdir(exist_ok=True)
            replace_file(self.path / CELLS / f"{cell['name']}.yaml", config.encode())
            content[CELLS] = [c for c in content[CELLS] if c["name"] != cell["name"]] + [cell]
            replace_file(self.path / STUDY, to_json(content))

    def close(self, outcome: StudyOutcome) -> None:
        """Write down what the study came to."""
        content = read_json(self.path / STUDY) | {
            "notes": list(outcome.notes),
            "runs": list(outcome.compared),
            "featured": outcome.featured,
        }
        replace_file(self.path / STUDY, to_json(content))

    def discard_if_untouched(self) -> None:
        """Take back a folder that this object made and in which nothing has been trained."""
        if self.is_new and not any(self.path.glob(f"*/{METRICS}")):
            shutil.rmtree(self.path)

    def begun(self) -> list[Run]:
        """Open every cell that has been begun; of a file that a user wrote, the runs it names."""
        cells = read_json(self.path / STUDY).get(CELLS) or [{"name": name} for name in self.runs]
        folders = [self.path / cell["name"] for cell in cells]
        return [Run.open(folder) for folder in folders if folder.exists()]

    def opened(self) -> list[Run]:
        """Open the runs that are compared; of an unfinished study, those that have scores yet."""
        if self.runs:
            return [Run.open(self.path / name) for name in self.runs]
        scored = [run for run in self.begun() if run.finished and run.record["scores"]]
        if not scored:
            raise UserError(
                f"the study {self.path} has no runs to compare yet; its command goes on with it."
            )
        return scored
