"""Which report section describes some runs, according to the table of jobs."""

from collections.abc import Sequence
from pathlib import Path

from attnlab.recipes.jobs import JOBS
from attnlab.report.build_report import Section
from attnlab.report.sections import comparison, one_run
from attnlab.report.write import write_report
from attnlab.runs.directory import Run
from attnlab.runs.study import STUDY, Study


def report_on(paths: Sequence[Path], folder: Path | None = None, *, as_markdown: bool) -> Path:
    """Write a page about runs, or about one study; return its path."""
    return write_report(paths, folder, section_of(paths), as_markdown=as_markdown)


def section_of(paths: Sequence[Path]) -> Section:
    """Return what tells of a study or a run of a job; several runs by hand are compared."""
    if len(paths) > 1:
        return comparison
    is_study = (paths[0] / STUDY).exists()
    job = Study.open(paths[0]).job if is_study else Run.open(paths[0]).config["job"]
    known = JOBS.get(job or "")
    if known:
        section: Section = known.section
        return section
    return comparison if is_study else one_run
