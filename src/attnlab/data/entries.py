"""Lines of an encyclopaedia: whom a line is about, and its names with the words before them.

    John Stephen. Born in Glasgow, Stephen became a welder's apprentice …
    name          John Stephen
    spans         Glasgow, after "Born in"

A span is a run of capitalised words that punctuation does not break, such as Royal Academy of
Music. What it means is not looked at: places, people, months and works are all the same here.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attnlab.phases import phase

MOST_BEFORE = MOST_AFTER = 8
WORD = re.compile(r"[\w'’\-]+")
LINKS = "of|de|la|du|von|van|der|di|da|del|al|upon|the"
"""Small words that stand inside a name, as in University of Glasgow."""
UPPER = "".join(c for c in map(chr, range(0x0530)) if c.isupper())
"""Capitals of the Latin, Greek and Cyrillic alphabets."""
CAPITALISED = rf"(?:(?:[{UPPER}]\.)+|[{UPPER}][\w'’]*(?:-\w+)*)"
RUN = re.compile(rf"{CAPITALISED}(?: (?:(?:{LINKS}) ){{0,2}}{CAPITALISED})*")
SENTENCE_END = re.compile(r"(?:^|[.!?] )$")
LONGEST_WORD = 200
"""Characters of a cut word that are kept before a span: a line without spaces has many spans."""
SHORT_TITLES = frozenset(("Jr", "Sr", "St", "Dr"))
LONGEST_NAME = 6
"""Words of a name, as in Sir John Alexander Macdonald of Kingston."""
FEWEST_ENTRIES = 0.1
"""Share of the lines that have to begin with a name in a corpus of entries."""


@dataclass(frozen=True)
class Span:
    """A name inside a text."""

    text: str
    before: tuple[str, ...]
    """The words to its left, the nearest last."""
    after: tuple[str, ...] = ()
    """The words to its right, the nearest first."""


@dataclass(frozen=True)
class Entry:
    """A line: whom or what it is about, and the other names that it mentions."""

    name: str
    spans: tuple[Span, ...]


def read_entries(lines: Sequence[str]) -> list[Entry]:
    """Read the entries of a corpus, one a line."""
    with phase("finding the names in the corpus, line", total=len(lines)) as reading:
        ordinary, entries = ordinary_words(lines), list[Entry]()
        for line in lines:
            entries.append(read_entry(line, ordinary))
            reading.advance()
    return entries


def read_entry(line: str, ordinary: frozenset[str]) -> Entry:
    """Split a line into its name and the spans of its text, without those of the name itself."""
    name, text = split_name(line)
    own, words = set(WORD.findall(name)), Words(text)
    spans = tuple(
        Span(found, words.before(start), words.after(start + len(found)))
        for start, found in _runs(text, ordinary)
        if not own.issuperset(WORD.findall(found))
    )
    return Entry(name, spans)


class Words:
    """The words of a text, found once: a line may be a megabyte long and have as many spans."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = text.split()
        self._starts = [word.start() for word in re.finditer(r"\S+", text)]

    def before(self, place: int) -> tuple[str, ...]:
        """Return the last words of ``text[:place]``, of which the last may be cut."""
        n_begun = bisect_left(self._starts, place)
        words = self._words[max(0, n_begun - MOST_BEFORE) : n_begun]
        if words and place < self._starts[n_begun - 1] + len(words[-1]):
            begin = max(self._starts[n_begun - 1], place - LONGEST_WORD)
            words[-1] = self._text[begin:place]
        return tuple(words)

    def after(self, place: int) -> tuple[str, ...]:
        """Return the first words of ``text[place:]``, of which the first may be cut."""
        n_begun = bisect_left(self._starts, place)
        end = self._starts[n_begun - 1] + len(self._words[n_begun - 1]) if n_begun else 0
        rest = self._text[place : min(end, place + LONGEST_WORD)]
        words = self._words[n_begun : n_begun + MOST_AFTER]
        return tuple([rest, *words][:MOST_AFTER] if rest else words)


def split_name(line: str) -> tuple[str, str]:
    """Split ``Name. Text`` at the first full stop that does not end an initial."""
    for stop in re.finditer(r"\. ", line):
        last = line[line.rfind(" ", 0, stop.start()) + 1 : stop.start()]
        if last not in SHORT_TITLES and not re.fullmatch(r"(?:\w\.)*[^\W\d_]", last):
            return line[: stop.start()], line[stop.end() :]
    return line.removesuffix("."), ""


def has_entries(lines: Sequence[str]) -> bool:
    """Say whether a corpus is a list of entries: at least a tenth of its lines begin with a name.

    Lists of entries and running text are far apart: nearly every line of the one begins with a
    name, and hardly any of the other.
    """
    written = [line for line in lines if line.strip()]
    return bool(written) and sum(map(is_entry, written)) >= FEWEST_ENTRIES * len(written)


def is_entry(line: str) -> bool:
    """Say whether a line is ``Name. Text``: up to six capitalised words, a full stop, a text."""
    name, text = split_name(line)
    is_name = RUN.fullmatch(name) is not None and len(name.split()) <= LONGEST_NAME
    return is_name and bool(text.strip())


def ordinary_words(lines: Iterable[str]) -> frozenset[str]:
    """Return the words that a sentence may begin with in capitals without being a name.

    They are those that stand in lower case more often than in capitals.
    """
    words = Counter(word for line in lines for word in WORD.findall(line))
    return frozenset(
        word for word, n in words.items() if word[0].isupper() and words[word.lower()] > n
    )


def _runs(text: str, ordinary: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the place and the text of every run of capitalised words."""
    for run in RUN.finditer(text):
        start, found = run.start(), run[0]
        first, _, rest = found.partition(" ")
        # its three last characters, since a search begins at the front
        if first in ordinary and SENTENCE_END.search(text[max(0, start - 3) : start]):
            start, found = start + len(first) + 1, rest
        if found:
            yield start, found
