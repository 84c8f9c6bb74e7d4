"""A study: runs that belong together, in one folder with a ``study.json`` that names them."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.errors import UserError
from attnlab.runs.directory import (
    METRICS,
    Run,
    RunPlace,
    differences,
    is_empty_folder,
    run_name,
)
from attnlab.runs.files import naming_the_path, read_json, replace_file, to_json

STUDY = "study.json"


@dataclass(frozen=True)
class Study:
    """A folder of runs with a title."""

    path: Path
    title: str | None
    runs: Sequence[str]
    """Names of the runs, which are folders beside the file."""
    notes: Sequence[str] = ()
    """What a reader should know beside the runs."""
    is_new: bool = False
    """Whether this object made the folder."""

    @classmethod
    def begin(
        cls,
        job: str,
        settings: Mapping[str, Any],
        place: RunPlace,
        *,
        title: str,
        notes: Sequence[str] = (),
    ) -> "Study":
        """Make the folder of a study, or go on with the one that has these settings."""
        path = place.root / run_name(job, settings, place.name)
        wanted = json.loads(json.dumps({"job": job, "settings": settings}))
        is_new = not (path / STUDY).exists()
        if not is_new:
            there = read_json(path / STUDY)
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
            replace_file(
                path / STUDY, to_json({**wanted, "title": title, "notes": list(notes), "runs": []})
            )
        return replace(cls.open(path), is_new=is_new)

    @classmethod
    def open(cls, path: Path) -> "Study":
        """Open a study to read it."""
        study = read_json(path / STUDY)
        names = study.get("runs")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UserError(f"{path / STUDY} must name its runs in a list called 'runs'.")
        title, notes = study.get("title"), study.get("notes")
        told = [str(note) for note in notes] if isinstance(notes, list) else []
        return cls(path, str(title) if title else None, names, told)

    def add(self, name: str) -> "Study":
        """Name one more run, which is finished."""
        if name not in self.runs:
            content = read_json(self.path / STUDY) | {"runs": [*self.runs, name]}
            replace_file(self.path / STUDY, to_json(content))
        return Study.open(self.path)

    def discard_if_untouched(self) -> None:
        """Take back a folder that this object made and in which nothing has been trained."""
        if self.is_new and not any(self.path.glob(f"*/{METRICS}")):
            shutil.rmtree(self.path)

    def opened(self) -> list[Run]:
        """Open the runs; a study without any is refused."""
        if not self.runs:
            raise UserError(f"the study {self.path} is empty: it names no runs yet.")
        return [Run.open(self.path / name) for name in self.runs]
