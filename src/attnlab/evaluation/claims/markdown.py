"""Markdown as far as claims need it: headings, sentences and rows of tables, with their lines.

What claims nothing is blanked out, so that every place keeps its line: code blocks, comments, the
front matter, addresses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---(?=\n)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCED = re.compile(
    r"^[ ]{0,3}(?P<fence>```+|~~~+)[^\n]*\n.*?(?:^[ ]{0,3}(?P=fence)[`~]*[ ]*$|\Z)", re.M | re.S
)
_INDENTED = re.compile(r"(?<=\n)[ ]*\n(?:(?:[ ]{4}|\t)[^\n]*\n)+")
_ADDRESS = re.compile(r"https?://[^\s)>]+")
_HEADING = re.compile(r"(?P<marks>#{1,6})[ ]+(?P<text>.*)")
_ITEM = re.compile(r"^[ ]{0,20}(?:[-*+]|\d{1,9}[.)])[ ]", re.M)
_QUOTE = re.compile(r"^[ ]{0,3}>[ ]?")
_RULE_OF_TABLE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_END = re.compile(r"""(?<=[.!?:;])["')\]*_]*\s+(?=["'(\[*_`]*[A-Z0-9`])""")
_NO_END = re.compile(
    r"(?:\b(?:(?i:e\.g|i\.e|cf|vs|figs?|eq|sec|resp|approx|ca|no|al|incl|etc|acc)|[A-Z])\.|:)\W*$"
)


@dataclass(frozen=True)
class Heading:
    """A title; what it cites, the text below it is about."""

    text: str
    line: int
    level: int


@dataclass(frozen=True)
class Sentence:
    """A sentence with its line breaks."""

    text: str
    line: int
    """Where it begins."""
    paragraph: int
    """Which paragraph or item of a list it stands in."""

    def line_at(self, place: int) -> int:
        """Return the line of a character."""
        return self.line + self.text.count("\n", 0, place)


@dataclass(frozen=True)
class Row:
    """A row of a table below its header."""

    cells: tuple[str, ...]
    header: tuple[str, ...]
    line: int
    table: int
    """Which table it stands in."""


Part = Heading | Sentence | Row


def parts_of(text: str) -> list[Part]:
    """Take a text apart, in its order."""
    text = _FRONT_MATTER.sub(_blank, text.replace("\r\n", "\n").replace("\t", "    "))
    for pattern in (_FENCED, _COMMENT, _ADDRESS):
        text = pattern.sub(_blank, text)
    if not _ITEM.search(text):  # what is indented below an item goes on with it
        text = _INDENTED.sub(_blank, text)
    lines = [_QUOTE.sub("", line) for line in text.split("\n")]
    return list(_parts(lines))


def _parts(lines: list[str]) -> Iterator[Part]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
        elif match := _HEADING.fullmatch(lines[at].strip()):
            yield Heading(match["text"], at + 1, len(match["marks"]))
            at += 1
        elif _begins_table(lines, at):
            end = at + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            header = _cells(lines[at])
            yield from (Row(_cells(lines[i]), header, i + 1, at) for i in range(at + 2, end))
            at = end
        else:
            end = at + 1
            while end < len(lines) and not _begins_block(lines, end):
                end += 1
            yield from _sentences("\n".join(lines[at:end]), at)
            at = end


def _begins_table(lines: list[str], at: int) -> bool:
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return "|" in lines[at] and "|" in following and bool(_RULE_OF_TABLE.fullmatch(following))


def _begins_block(lines: list[str], at: int) -> bool:
    line = lines[at]
    is_new = not line.strip() or _HEADING.fullmatch(line.strip()) or _ITEM.match(line)
    return bool(is_new) or _begins_table(lines, at)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _sentences(text: str, at: int) -> Iterator[Sentence]:
    """Cut a paragraph whose first line has the index ``at``; an abbreviation ends no sentence."""
    begin = 0
    for match in [*_END.finditer(text), None]:
        end = match.end() if match else len(text)
        if match and _NO_END.search(text[begin : match.start()]):
            continue
        if text[begin:end].strip():
            yield Sentence(text[begin:end], at + 1 + text.count("\n", 0, begin), at)
        begin = end


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
