"""Starting a job: what is looked at before its command runs."""

from pathlib import Path
from typing import Any

from attnlab.config import SettingsError, from_dict, to_dict, to_yaml
from attnlab.errors import BusyError, UserError
from attnlab.recipes.jobs import JOBS, find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.folders import refuse_other_format, refuse_other_settings, run_name
from attnlab.runs.lock import is_held
from attnlab.runs.references import absolute_settings
from attnlab.runs.study import STUDY, Study, read_study
from attnlab.web.allowed import refuse_what_is_not_allowed
from attnlab.web.children import Child, Children
from attnlab.web.inside import leads_out, link_out
from attnlab.web.settings import WebSettings

NAME_FIELD = "run-name"
"""Of the form; no setting has a hyphen in its key."""


def start_job(
    children: Children, job: str, settings: Any, name: str | None, *, served: WebSettings
) -> Child:
    """Check what settings name and where the run will be, and start its command."""
    absolute = absolute_settings(settings, served.runs)
    refuse_what_is_not_allowed(absolute, served.readable)
    name = _checked_name(job, to_dict(absolute), name)
    refuse_if_taken(served.runs / name, {"job": job, "settings": to_dict(absolute)})
    return children.start(name, job, to_yaml(absolute))


def _checked_name(job: str, settings: dict[str, Any], name: str | None) -> str:
    """Return the name of a run; one that cannot be is refused next to its field."""
    try:
        return run_name(job, settings, name)
    except UserError as error:
        why = str(error).split(" is not possible: ")[-1]
        raise SettingsError(str(error), {NAME_FIELD: f"{why[:1].upper()}{why[1:]}"}) from None


def refuse_if_taken(path: Path, wanted: dict[str, Any]) -> None:
    """Refuse a name that leads elsewhere, that has other settings, or whose work is done."""
    root = path.parent
    if link := link_out(path, root):
        raise UserError(leads_out(link, root))
    if (path / STUDY).exists():
        there = read_study(path)
        refuse_other_settings(f"study {path}", there, wanted)
        refuse_other_format(path, there)
        is_finished = Study.open(path).is_finished
    else:
        run = Run.find(wanted["job"], wanted["settings"], RunPlace(root, path.name))
        is_finished = run is not None and run.finished
    if is_finished:
        raise UserError(f"{path.name} is finished, with these settings. Choose another name.")
    if is_held(path):
        raise BusyError(f"another process is working on {path.name}. Stop it there first.")


def unfinished(path: Path) -> tuple[str, Any]:
    """Return the job and the settings of a run or study that can go on."""
    there = read_study(path) if (path / STUDY).exists() else Run.open(path).config
    job = str(there.get("job"))
    if job not in JOBS:
        raise UserError(f"{path.name} cannot be resumed: no job known here made it.")
    refuse_other_format(path, there)
    return job, from_dict(find_job(job).settings, there["settings"], origin=str(path))
