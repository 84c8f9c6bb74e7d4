"""One attention variant on a terminal. Loads no matplotlib."""

from collections.abc import Mapping
from math import prod
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.report.terminal import add_row, table_of


def variant_view(info: Mapping[str, Any]) -> RenderableType:
    """Show one variant: in words, then what it takes and promises."""
    table = table_of()
    for option, written in info["options"].items():
        add_row(table, "option", f"{option}: {written}")
    add_row(table, "supports", ", ".join(info["supports"]))
    add_row(table, "positions", ", ".join(info["positions"]))
    if info["breaks"]:
        add_row(table, "breaks", Text(", ".join(info["breaks"]), "red"))
    if info["null_directions"]:
        add_row(table, "no gradient", ", ".join(info["null_directions"]))
    size = ", ".join(f"{name} {value}" for name, value in info["size"].items())
    total = sum(prod(shape) for shape in info["parameters"].values())
    add_row(table, "parameters", f"{total:,} with {size}")
    for name, shape in info["parameters"].items():
        add_row(table, "", f"{name} {tuple(shape)}")
    return Group(Text(_flowing(info["about"])), "", table)


def _flowing(docstring: str) -> str:
    """Join the lines of each paragraph, which were broken for the source; examples stay."""
    paragraphs = docstring.replace("``", "").split("\n\n")
    return "\n\n".join(
        text if text.startswith(" ") else " ".join(text.split()) for text in paragraphs
    )
