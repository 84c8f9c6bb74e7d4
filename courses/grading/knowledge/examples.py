"""Drawn examples as positions in a document: each character of ours occurs in one place only.

A row is x and the last token of y. Its parts are found by the marks alone: ``prefix⁇suffix⁇span``,
perhaps with a third ⁇ at the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAD, SENTINEL = "□", "⁇"
IS_PAD, IS_MARK, IS_STRANGE = -1, -2, -3
"""Codes for what is not a place in the document: padding, sentinel, any other character."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Draws:
    """Many draws of one document."""

    block: int
    n_characters: int
    x: Ints
    """One row per draw; each entry is a place in the document or one of the codes."""
    y: Ints

    @property
    def longest(self) -> int:
        """The longest cut that the assignment allows here."""
        return min(self.n_characters, self.block * 7 // 8)

    @property
    def rows(self) -> Ints:
        """The rows before they were shifted."""
        return np.concatenate([self.x[:, :1], self.y], axis=1)

    @property
    def where(self) -> str:
        """Say which draws these are."""
        return f"block {self.block}, document of {self.n_characters}"


@dataclass(frozen=True)
class Parts:
    """How each row is cut: the lengths of prefix, span and suffix, one number per row."""

    prefix: Ints
    span: Ints
    suffix: Ints

    @property
    def whole(self) -> Ints:
        """Length of the cut document."""
        return self.prefix + self.span + self.suffix


def read_draws(tokens: Ints, document: str, itos: Mapping[str | int, str], block: int) -> Draws:
    """Turn tokens into places; ``tokens`` is (2, draws, length)."""
    codes = {PAD: IS_PAD, SENTINEL: IS_MARK} | {c: place for place, c in enumerate(document)}
    characters = {int(token): character for token, character in itos.items()}
    table = np.array([codes.get(characters.get(i, ""), IS_STRANGE) for i in range(len(itos) + 1)])
    known = (tokens >= 0) & (tokens < len(itos))
    x, y = table[np.where(known, tokens, len(itos))]
    return Draws(block, len(document), x, y)


def all_draws(
    said: Mapping[str, Any], arrays: Mapping[str, Ints], documents: list[str]
) -> list[Draws]:
    """Read everything that the probe drew."""
    found = []
    for key, tokens in arrays.items():
        block, index = key.split("/")
        found.append(read_draws(tokens, documents[int(index)], said["itos"][block], int(block)))
    return found


def content_length(rows: Ints) -> Ints:
    """Return where the padding at the end begins."""
    filled = rows[:, ::-1] != IS_PAD
    return np.where(filled.any(1), rows.shape[1] - filled.argmax(1), 0)


def cut_up(rows: Ints) -> Parts:
    """Find the parts by the marks, of which every row has two or three."""
    ends = content_length(rows)
    number = (rows == IS_MARK).cumsum(1)
    first, second = ((number == n).argmax(1) for n in (1, 2))
    third = np.where(number[:, -1] > 2, (number == 3).argmax(1), ends)
    return Parts(first, third - second - 1, second - first - 1)


def rebuilt(parts: Parts, width: int) -> Ints:
    """Return the places that rows with these parts must hold; marks and padding are left strange."""
    at = np.arange(width)[None, :]
    prefix, span, suffix = parts.prefix[:, None], parts.span[:, None], parts.suffix[:, None]
    after = at - prefix - 1  # places after the first mark
    wanted = np.full((len(prefix), width), IS_STRANGE)
    wanted = np.where(at < prefix, at, wanted)
    wanted = np.where((after >= 0) & (after < suffix), after + prefix + span, wanted)
    last = after - suffix - 1
    return np.where((last >= 0) & (last < span), last + prefix, wanted)


def in_words(row: Ints) -> str:
    """Show a row as letters of the document's places: A is the first."""
    signs = {IS_PAD: PAD, IS_MARK: SENTINEL, IS_STRANGE: "?"}
    shown = [signs.get(code) or chr(ord("A") + code % 58) for code in row.tolist()]
    text = "".join(shown).rstrip(PAD)
    return text if len(text) <= 40 else f"{text[:39]}…"
