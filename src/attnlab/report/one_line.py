"""Tables whose rows stay on one line: long texts are shortened in the middle, numbers never."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

GAP, LEAST = 2, 8


@dataclass(frozen=True)
class OneLineTable:
    """A table for a terminal of any width; a pipe has none, so that nothing is shortened there."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    shrinkable: Sequence[int] = (0,)
    """Columns that give way where the screen is too narrow."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        """Write a bold header, then one line per row."""
        has_width = console.is_terminal or "COLUMNS" in os.environ or console.width != 80
        widths = self._widths(options.max_width if has_width else None)
        yield _line(self.columns, widths, style="bold")
        for row in self.rows:
            yield _line(row, widths)

    def _widths(self, room: int | None) -> list[int]:
        lines = [self.columns, *self.rows]
        widths = [max(cell_len(cell) for cell in column) for column in zip(*lines, strict=True)]
        if room is None:
            return widths
        while sum(widths) + GAP * (len(widths) - 1) > room:
            widest = max(self.shrinkable, key=lambda i: widths[i])
            if widths[widest] <= LEAST:
                break  # a number is never cut, however narrow the screen
            widths[widest] -= 1
        return widths


def shortened(text: str, width: int) -> str:
    """Cut the middle out of a text that is too long: its end tells names apart, too."""
    if cell_len(text) <= width:
        return text
    half = min((len(text) + 1) // 2, width)  # more characters have no room
    head, tail = list(text[:half]), list(text[max(half, len(text) - half) :])
    while cell_len("".join([*head, "…", *tail])) > width and (head or tail):
        if len(head) > len(tail):
            head.pop()
        else:
            tail.pop(0)
    return "".join([*head, "…", *tail])


def _line(cells: Sequence[str], widths: Sequence[int], style: str = "") -> Text:
    fitting = [shortened(cell, width) for cell, width in zip(cells, widths, strict=True)]
    padded = [
        cell + " " * (width - cell_len(cell) + GAP)
        for cell, width in zip(fitting, widths, strict=True)
    ]
    return Text("".join(padded).rstrip(), style, no_wrap=True, overflow="ignore")
