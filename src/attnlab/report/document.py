"""A report before rendering: blocks that both HTML and Markdown can write."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


@dataclass(frozen=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True)
class Sentences:
    """Statements made from the numbers; doubtful ones are marked as warnings."""

    lines: Sequence[str]
    warning: bool = False


@dataclass(frozen=True)
class Table:
    """A table."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    one_line: bool = False
    """Whether a row stays on one line of a terminal; its texts are shortened to make room."""
    texts: Sequence[int] = (0,)
    """The columns that are texts; numbers are never shortened."""
    shaded: bool = False
    """Whether a page may colour its counts by their share of the row: a confusion matrix."""


@dataclass(frozen=True)
class Figure:
    """A figure with its file name and caption."""

    name: str
    caption: str
    figure: "MatplotlibFigure"


Block = Heading | Sentences | Table | Figure


@dataclass(frozen=True)
class Document:
    """A title and its blocks."""

    title: str
    blocks: Sequence[Block]
