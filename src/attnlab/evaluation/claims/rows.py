"""Claims in rows of tables: the column or the row says what a cell holds, and of which run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from attnlab.evaluation.claims.citations import NAME, Cited
from attnlab.evaluation.claims.number_claims import Found, judge
from attnlab.evaluation.claims.numbers import numbers_in
from attnlab.evaluation.claims.passages import Passage
from attnlab.evaluation.claims.quantities import OWN, ROWS, Quantity, heading_quantity, splits_in
from attnlab.evaluation.claims.verdicts import Claim

_VALUE = re.compile(r"\W{0,4}$")
_GUESSING = re.compile(r"guess|baseline|majority|chance", re.I)
_OTHER = re.compile(r"95|interval|\bCI\b|±|\bstd\b|differ|delta|Δ|\bp\b|range|rank", re.I)


def row_claims(line: int, row: Passage, nearest: Sequence[Cited]) -> Iterator[Claim]:
    """Judge the cells of a row.

    A row is about the run that it names, else the column about the one its title names, else the
    table about what was cited before it, if its first cell names a quantity.
    """
    cells = row.reads
    of_row = tuple(dict.fromkeys(m.cited for cell in cells for m in cell.mentions))
    for cell, title in zip(cells, row.header, strict=False):
        of_column = tuple(mention.cited for mention in title.mentions)
        in_first = heading_quantity(cells[0].plain)
        cited = of_row or of_column or (tuple(nearest) if in_first and cell is not cells[0] else ())
        words = title.plain if of_row else f"{title.plain} {cells[0].plain}"
        quantity = _quantity(words)
        if not cited or quantity is None or cell.mentions:
            continue
        found = _found(cell.plain, words, quantity)
        judgement = judge(found, cited, row.context) if found else None
        if found and judgement:
            names = tuple(one.name for one in cited)
            text = " ".join(f"{words.replace(NAME, ' ')}: {cell.plain}".split())
            yield Claim(line, text, names, judgement.verdict, judgement.reason)


def _quantity(words: str) -> Quantity | None:
    if _OTHER.search(words):
        return None
    return heading_quantity(words) or (OWN if splits_in(words) else None)


def _found(cell: str, words: str, quantity: Quantity) -> Found | None:
    """Take the first number of a cell, if nothing but marks stands before it."""
    number = next(numbers_in(cell), None)
    if number is None or not _VALUE.fullmatch(cell[: number.start]):
        return None
    if "%" in words and quantity.is_share:
        number = replace(number, in_percent=True)
    return Found(
        number,
        quantity,
        split=next((split for *_, split in splits_in(words)), ""),
        is_guessing=bool(_GUESSING.search(words)),
        is_firm=quantity is not ROWS,  # "samples" may be anything
    )
