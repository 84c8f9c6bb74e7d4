"""Reads a report from top to bottom, and judges every number and comparison of cited runs."""

from collections.abc import Iterator
from pathlib import Path

from attnlab.data.text_files import read_text
from attnlab.errors import UserError
from attnlab.evaluation.claims.citations import Cited, Library, Read
from attnlab.evaluation.claims.markdown import Heading, Sentence, parts_of
from attnlab.evaluation.claims.passages import Passage, passages_of
from attnlab.evaluation.claims.rows import row_claims
from attnlab.evaluation.claims.sentences import Around, sentence_claims
from attnlab.evaluation.claims.verdicts import Claim
from attnlab.phases import phase

MOST_NAMED = 5


@phase("checking the report")
def check_report(path: Path, root: Path) -> list[Claim]:
    """Judge what a report in Markdown says of the runs below ``root`` that it cites."""
    library = Library(root)
    passages = passages_of(parts_of(read_text(path)), library)
    reads = [read for one in passages for read in (*one.header, *one.reads)]
    if not library.names or not any(read.mentions or read.unknown for read in reads):
        known = ", ".join(sorted(library.names)[:MOST_NAMED]) or "none"
        raise UserError(
            f"{path} cites no run of {root}. Write a run's name as code, such as `NAME`, or link to"
            f" its folder. Known: {known}."
        )
    reader = _Reader()
    claims = [claim for passage in passages for claim in reader.read(passage)]
    return sorted(claims, key=lambda claim: claim.line)


class _Reader:
    """What has been cited by now."""

    def __init__(self) -> None:
        self.cited: list[Cited] = []
        self.of_section: list[Cited] = []
        self.of_headings: dict[int, list[Cited]] = {}
        self.nearest: list[Cited] = []
        """What the last heading or sentence that cites something cites."""

    def read(self, passage: Passage) -> Iterator[Claim]:
        """Judge what a passage claims, and remember what it cites."""
        for read in passage.reads:
            yield from _unknown(read, passage.part.line)
        match passage.part:
            case Heading(_, _, level):
                self._open_section(passage, level)
            case Sentence():
                before = self.nearest
                here = self._remember(passage)
                self.nearest = here or before
                around = Around(here, before, self.of_section, self.cited, passage.context)
                yield from sentence_claims(passage.part, passage.reads[0], around)
            case row:
                self._remember(passage)
                yield from row_claims(row.line, passage, self.nearest)

    def _open_section(self, passage: Passage, level: int) -> None:
        self.of_section = []
        above = {depth: cited for depth, cited in self.of_headings.items() if depth < level}
        self.of_headings = above | {level: self._remember(passage)}
        deepest_first = sorted(self.of_headings.items(), reverse=True)
        self.nearest = next((cited for _, cited in deepest_first if cited), [])

    def _remember(self, passage: Passage) -> list[Cited]:
        found = [mention.cited for read in passage.reads for mention in read.mentions]
        for known in (self.cited, self.of_section):
            known += [one for one in dict.fromkeys(found) if one not in known]
        return list(dict.fromkeys(found))


def _unknown(read: Read, line: int) -> Iterator[Claim]:
    for place, wrong in read.unknown:
        yield Claim(line + read.plain.count("\n", 0, place), "a citation", (), "open", wrong)
