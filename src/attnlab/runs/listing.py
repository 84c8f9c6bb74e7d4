"""The runs and studies of a folder."""

from dataclasses import dataclass, field
from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.directory import CONFIG, FAILURE, METRICS, RECORD, Run
from attnlab.runs.files import read_json
from attnlab.runs.folders import folders_in
from attnlab.runs.study import STUDY, Study


@dataclass
class Found:
    """What a folder holds."""

    runs: list[Run] = field(default_factory=list)
    """Runs that belong to no study, newest first."""
    studies: list[tuple[Study, list[Run]]] = field(default_factory=list)
    """Studies with those of their cells that were begun, newest first."""
    problems: list[str] = field(default_factory=list)
    """What could not be read."""


def changed_at(run: Run) -> float:
    """Return when a run was last worked on; a report written into it later does not count."""
    files = [run.path / name for name in (RECORD, METRICS, CONFIG, FAILURE)]
    times = [file.stat().st_mtime for file in files if file.exists()]
    return times[0] if run.finished else max(times)


def find_all(root: Path) -> Found:
    """Return the runs and studies below ``root``; what a run's own folder holds is left alone."""
    found = Found()
    for folder in folders_in(root):
        if (folder / CONFIG).exists():
            _add_run(folder, found.runs, found)
        elif (folder / STUDY).exists():
            _add_study(folder, found)
        else:
            for inner in folders_in(folder):
                if _is_ours(inner / CONFIG):
                    _add_run(inner, found.runs, found)
    found.runs.sort(key=changed_at, reverse=True)
    return found


def list_runs(root: Path) -> tuple[list[Run], list[str]]:
    """Return every run below ``root``, also those of studies, and what could not be read there."""
    found = find_all(root)
    runs = [*found.runs, *(run for _, cells in found.studies for run in cells)]
    return sorted(runs, key=changed_at, reverse=True), found.problems


def _add_run(folder: Path, runs: list[Run], found: Found) -> None:
    try:
        run = Run.open(folder)
        run.check()
        runs.append(run)
    except UserError as error:
        found.problems.append(str(error))


def _add_study(folder: Path, found: Found) -> None:
    try:
        study = Study.open(folder)
    except UserError as error:
        found.problems.append(str(error))
        return
    cells: list[Run] = []
    for name in [cell["name"] for cell in study.cells] or study.runs:
        if (folder / name).exists():
            _add_run(folder / name, cells, found)
    found.studies.append((study, cells))


def _is_ours(config: Path) -> bool:
    """Say whether a config.json is a run's; a model in the hub's layout has one too."""
    try:
        return config.exists() and "job" in read_json(config)
    except UserError:
        return False
