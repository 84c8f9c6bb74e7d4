"""Writes a report to disk: a page or Markdown, and every figure as PNG and SVG."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure as MatplotlibFigure

from attnlab import __version__
from attnlab.errors import UserError
from attnlab.report import figures, html, markdown
from attnlab.report.build_report import Section, build_report
from attnlab.report.document import Document, Figure
from attnlab.runs.directory import Run
from attnlab.runs.files import naming_the_path, replace_file
from attnlab.runs.study import STUDY, Study

FIGURE_KINDS = {".png": figures.as_png, ".svg": figures.as_svg}


def write_report(
    paths: Sequence[Path], folder: Path | None, section: Section, *, as_markdown: bool
) -> Path:
    """Report on runs, or on one study; return the page's path."""
    if len(paths) == 1 and (paths[0] / STUDY).exists():
        study = Study.open(paths[0])
        title, notes, runs = study.title, study.notes, study.opened()
        if study.cells and not study.is_finished:
            done = sum(run.finished for run in study.begun())
            unfinished = f"This study is not finished: {done} of {len(study.cells)} cells are."
            notes = [*notes, unfinished]
    else:
        title, notes, runs = None, (), [Run.open(path) for path in paths]
    document = build_report(runs, section, title=title, notes=notes)
    return save(document, folder or paths[0] / "report", as_markdown=as_markdown)


def check_figure_path(path: Path) -> None:
    """Refuse a path that no figure can be written to, before there is one."""
    if path.suffix not in FIGURE_KINDS:
        raise UserError(f"{path}: a figure is written as {' or '.join(FIGURE_KINDS)}.")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.parent}.")
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file.")


def save_figure(figure: MatplotlibFigure, path: Path) -> None:
    """Write one figure, in the form that its name asks for."""
    check_figure_path(path)
    replace_file(path, FIGURE_KINDS[path.suffix](figure))


def save(document: Document, folder: Path, *, as_markdown: bool) -> Path:
    """Write the document and its figures; return the main file."""
    page = folder / ("report.md" if as_markdown else "report.html")
    footer = f"attnlab {__version__}, {datetime.now(UTC).date().isoformat()}"
    form = markdown if as_markdown else html
    text = form.render(document, footer=footer)
    with naming_the_path(folder):
        (folder / "figures").mkdir(parents=True, exist_ok=True)
    for block in document.blocks:
        if isinstance(block, Figure):
            replace_file(folder / "figures" / f"{block.name}.png", figures.as_png(block.figure))
            replace_file(folder / "figures" / f"{block.name}.svg", figures.as_svg(block.figure))
    replace_file(page, text.encode())
    return page
