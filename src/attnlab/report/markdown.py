"""A document as Markdown, with its figures next to it."""

from collections.abc import Sequence

from attnlab.report.document import Block, Document, Figure, Heading, Sentences, Table


def render(document: Document, *, footer: str) -> str:
    """Write the whole text."""
    blocks = [f"# {document.title}", *map(_block, document.blocks), f"*{footer}*"]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {text}"
        case Sentences(lines, warning):
            return "\n".join(f"- {'**Warning:** ' if warning else ''}{line}" for line in lines)
        case Table(columns, rows):
            return "\n".join([_row(columns), _row(["---"] * len(columns)), *map(_row, rows)])
        case Figure(name, caption, _):
            return f"![{caption}](figures/{name}.png)"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """Write a text so that nothing in it is Markdown or HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")
    return text.replace("|", "\\|").replace("[", "\\[").replace("`", "\\`")
