"""A report with what each of its parts cites, and with the text around it that may qualify it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attnlab.evaluation.claims.citations import Library, Read
from attnlab.evaluation.claims.markdown import Heading, Part, Row, Sentence


@dataclass(frozen=True)
class Passage:
    """A heading, a sentence, or a row of a table."""

    part: Part
    reads: tuple[Read, ...]
    """What it cites: one, or of a row one per cell."""
    header: tuple[Read, ...] = ()
    """Of a row."""
    context: str = ""
    """The paragraph of a sentence, the section of a row; without names."""


def passages_of(parts: Sequence[Part], library: Library) -> list[Passage]:
    """Find what a report cites; a cell of a study that it cites anywhere needs no study's name."""
    first = [_passage(part, library) for part in parts]
    named = [m.cited.name for one in first for read in one.reads for m in read.mentions]
    studies = list(dict.fromkeys(name.partition("/")[0] for name in named))
    return list(_with_contexts([_passage(part, library, studies) for part in parts]))


def _passage(part: Part, library: Library, studies: Sequence[str] = ()) -> Passage:
    if not isinstance(part, Row):
        return Passage(part, (library.read(part.text, studies=studies),))
    reads, header = (
        tuple(library.read(cell, studies=studies, is_cell=True) for cell in cells)
        for cells in (part.cells, part.header)
    )
    return Passage(part, reads, header)


def _with_contexts(passages: Sequence[Passage]) -> Iterator[Passage]:
    sections, paragraphs = defaultdict[int, str](str), defaultdict[int, str](str)
    section, places = 0, list[int]()
    for passage in passages:
        part, reads = passage.part, (*passage.header, *passage.reads)
        plain = " ".join(read.plain for read in reads)
        section = part.line if isinstance(part, Heading) else section
        places.append(section)
        sections[section] += f" {plain}"
        if isinstance(part, Sentence):
            paragraphs[part.paragraph] += f" {plain}"
    for passage, place in zip(passages, places, strict=True):
        match passage.part:
            case Sentence(_, _, paragraph):
                yield replace(passage, context=paragraphs[paragraph])
            case _:
                yield replace(passage, context=sections[place])
