"""Writes a report to disk: a page or Markdown, and every figure as PNG and SVG."""

from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure as MatplotlibFigure

from attnlab import __version__
from attnlab.errors import UserError
from attnlab.report import html, markdown
from attnlab.report.document import Document, Figure
from attnlab.report.figure_output import as_png, as_svg
from attnlab.runs.files import check_output, naming_the_path, replace_file

FIGURE_KINDS = {".png": as_png, ".svg": as_svg}


def check_figure_path(path: Path) -> None:
    """Refuse a path that no figure can be written to, before there is one."""
    if path.suffix not in FIGURE_KINDS:
        raise UserError(f"{path}: a figure is written as {' or '.join(FIGURE_KINDS)}.")
    check_output(path)


def save_figure(figure: MatplotlibFigure, path: Path) -> None:
    """Write one figure; the suffix of the file decides the format."""
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
            replace_file(folder / "figures" / f"{block.name}.png", as_png(block.figure))
            replace_file(folder / "figures" / f"{block.name}.svg", as_svg(block.figure))
    replace_file(page, text.encode())
    return page
