"""The blocks of a report as plain data, for a page that draws its own figures."""

from collections.abc import Iterable
from typing import Any

from attnlab.report.document import Block, Heading, Sentences, Table


def blocks_json(blocks: Iterable[Block]) -> list[dict[str, Any]]:
    """Return headings, sentences and tables as plain values; figures are left out."""
    return [plain for block in blocks if (plain := _plain(block))]


def _plain(block: Block) -> dict[str, Any] | None:
    match block:
        case Heading(text):
            return {"kind": "heading", "text": text}
        case Sentences(lines, warning) if lines:
            return {"kind": "sentences", "lines": list(lines), "warning": warning}
        case Table(columns, rows) if rows:
            return {
                "kind": "table",
                "columns": list(columns),
                "rows": [list(row) for row in rows],
                "shaded": block.shaded,
            }
    return None
