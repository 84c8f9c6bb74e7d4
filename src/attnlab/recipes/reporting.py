"""Reports on runs and studies; the table of jobs says which section describes them."""

from collections.abc import Sequence
from pathlib import Path

from attnlab.phases import phase
from attnlab.recipes.jobs import JOBS
from attnlab.report.build_report import build_report
from attnlab.report.sections import Section
from attnlab.report.sections.comparison import COMPARISON
from attnlab.report.sections.one_run import ONE_RUN
from attnlab.report.write import save
from attnlab.runs.directory import Run
from attnlab.runs.study import STUDY, Study


@phase("drawing the report")
def report_on(paths: Sequence[Path], folder: Path | None = None, *, as_markdown: bool) -> Path:
    """Write a page about runs, or about one study; return its path."""
    if len(paths) == 1 and (paths[0] / STUDY).exists():
        study = Study.open(paths[0])
        section, runs = section_of(study.job, COMPARISON), study.opened()
        document = build_report(runs, section, title=study.title, notes=_notes(study))
    else:
        runs = [Run.open(path) for path in paths]
        section = COMPARISON if len(runs) > 1 else section_of(runs[0].config["job"], ONE_RUN)
        document = build_report(runs, section)
    return save(document, folder or paths[0] / "report", as_markdown=as_markdown)


def section_of(job: str | None, otherwise: Section) -> Section:
    """Return the section that describes a job; ``otherwise`` if the job is not in the table."""
    known = JOBS.get(job or "")
    return known.section if known else otherwise


def _notes(study: Study) -> Sequence[str]:
    if not study.cells or study.is_finished:
        return study.notes
    done = sum(run.finished for run in study.begun())
    return [*study.notes, f"This study is not finished: {done} of {len(study.cells)} cells are."]
