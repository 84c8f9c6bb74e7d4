"""An explanation on a terminal."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.geometry.explanation import Cell, Explanation, Part, Table
from attnlab.geometry.words import number, vector
from attnlab.report.terminal import add_row, table_of

VERDICTS = {
    "exact": ("exactly", "green"),
    "limit": ("in the limit", "green"),
    "never": ("never", "red"),
    "found": ("found by a search", "yellow"),
    "undecided": ("undecided", "yellow"),
    "possible": ("possible", "green"),
    "impossible": ("impossible", "red"),
    "right": ("right", "green"),
    "wrong": ("wrong", "red"),
}


def view(explained: Explanation) -> RenderableType:
    """Show an explanation: first the verdict on what the user proposed, last on what is usual."""
    answer = explained.answer
    if answer is None or not answer.is_users:
        return Group(*_lines(explained))
    return Group(*_lines(answer), "", *_lines(replace(explained, answer=None)))


def _lines(explained: Explanation) -> Iterator[RenderableType]:
    """Give a heading and, right below it, its parts; a blank line is before all but sentences."""
    yield _heading(explained)
    before: Part = ""
    for i, part in enumerate([*explained.parts, *filter(None, [explained.answer])]):
        are_sentences = isinstance(before, str) and isinstance(part, str)
        if not are_sentences and (i or isinstance(part, Explanation)):
            yield ""
        yield from _shown(part)
        before = part


def _heading(explained: Explanation) -> Text:
    heading = Text(explained.question, "bold")
    if explained.verdict is not None:
        heading = Text.assemble(heading, ": ", VERDICTS[explained.verdict])
    return Text.assemble(heading, f": {explained.detail}") if explained.detail else heading


def _shown(part: Part) -> Iterator[RenderableType]:
    if isinstance(part, Explanation):
        yield from _lines(part)
    elif isinstance(part, str):
        yield Text(part)
    else:
        rows = part.items() if isinstance(part, Mapping) else part.rows
        table = table_of(*(part.columns if isinstance(part, Table) else ()))
        for row in rows:
            add_row(table, *map(_cell, row))
        yield table


def _cell(cell: Cell) -> Text:
    """Write a cell; a verdict has its colour."""
    if isinstance(cell, str):
        return Text(*VERDICTS[cell]) if cell in VERDICTS else Text(cell)
    return Text(vector(cell) if isinstance(cell, np.ndarray) else number(float(cell)))
