"""What the lines about somebody offer as an answer, and what can be seen of each candidate.

    line        Jean Muller. Jean Muller was born on 11 December 1979 in Luxembourg City, son of …
    candidates  December, Luxembourg City, Luxembourg, …

A candidate is a span (see ``entries``), or the beginning or end of one if that answers some other
training question. Its features are strings: the words around it, how far away the words of the
question are, its place among the spans of the line, and whether it answers other training
questions. Nothing here knows what the question asks for.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attnlab.data.entries import Entry, Span, read_entries

TOKEN = re.compile(r"\w+|[^\w\s]")
NEAR, CUE_REACH = 3, 12
"""Tokens on either side whose place counts, and those among which a question's words are sought."""
FAR = "far"
REMEMBERED = 20_000
"""Spans whose surroundings are kept, since a reader is taught several times."""


@dataclass(frozen=True)
class Candidate:
    """A possible answer."""

    text: str
    features: tuple[str, ...]


class AnswerCandidates:
    """The candidates of every entry of a corpus."""

    def __init__(self, corpus: Sequence[str]) -> None:
        self._entries = defaultdict[str, list[Entry]](list)
        for entry in read_entries(corpus):
            if entry.spans:
                self._entries[entry.name].append(entry)
        every = [entry for entries in self._entries.values() for entry in entries]
        self._mentions = Counter(span.text for entry in every for span in entry.spans)

    @property
    def names(self) -> Iterable[str]:
        """Everybody whose lines mention something."""
        return self._entries.keys()

    def about(
        self, name: str, cues: tuple[str, ...], answers: Mapping[str, int]
    ) -> Iterator[Candidate]:
        """Give the candidates of all lines about somebody.

        ``cues`` are the words of the question without the name, and ``answers`` counts those of the
        training questions; leave out the question's own, or its answer gives itself away.
        """
        for entry in self._entries.get(name, ()):
            parts = [list(_with_parts(span, answers)) for span in entry.spans]
            n_known = 0
            for number, some in enumerate(parts):
                place = (number, len(parts), n_known)
                for span, kind in some:
                    seen = [*_around(span, cues), *self._of_itself(span, answers, place)]
                    yield Candidate(span.text, (*seen, f"{kind} of a span"))
                n_known += any(span.text in answers for span, _ in some)

    def _of_itself(
        self, span: Span, answers: Mapping[str, int], place: tuple[int, int, int]
    ) -> Iterator[str]:
        """What the span is, and where among the spans of its line."""
        number, n, n_known = place
        known = answers.get(span.text, 0)
        share = known / max(known, self._mentions[span.text])
        how_known = f"answers {_size(known)}, {round(4 * share)}/4 of its mentions"
        yield how_known
        yield f"answers {bool(known)}, after {min(n_known, 3)} that do"
        yield f"span {min(number, 4)}"
        yield f"span {min(n - number, 4)} from the end"
        yield f"mentioned {_size(self._mentions[span.text])}"
        yield f"is {span.text}"
        yield from (f"has {word.lower()}" for word in span.text.split())
        yield f"{len(span.text.split())} words"


def _with_parts(span: Span, answers: Mapping[str, int]) -> Iterator[tuple[Span, str]]:
    """Give a span, and what it begins or ends with if that answers other questions."""
    yield span, "all"
    words = span.text.split()
    for cut in range(1, len(words)):
        left, right = " ".join(words[:cut]), " ".join(words[cut:])
        if left in answers:
            yield Span(left, span.before, (*words[cut:], *span.after)), "begin"
        if right in answers:
            yield Span(right, (*span.before, *words[:cut]), span.after), "end"


@lru_cache(REMEMBERED)
def _around(span: Span, cues: tuple[str, ...]) -> tuple[str, ...]:
    """The words before and after, and the distance to the question's."""
    return tuple(_seen_around(span, cues))


def _seen_around(span: Span, cues: tuple[str, ...]) -> Iterator[str]:
    left = [_shape(token) for token in TOKEN.findall(" ".join(span.before))][::-1]
    right = [_shape(token) for token in TOKEN.findall(" ".join(span.after))]
    for side, tokens in (("before", left), ("after", right)):
        padded = [*tokens, *[""] * NEAR]
        yield from (f"{side} {i}: {token}" for i, token in enumerate(padded[:NEAR]))
        yield f"{side}: {padded[0]} {padded[1]}"
        yield f"{side}: {padded[0]} {padded[1]} {padded[2]}"
        # in the order of the text: that of a set is another in every process, and so are sums
        yield from (f"{side}: {token}" for token in dict.fromkeys(tokens[:CUE_REACH]))
    for cue in cues:
        before, after = _distance(cue, left), _distance(cue, right)
        yield f"{cue} {before} before"
        yield f"{cue} {after} after"
        yield f"{cue} {before} before, behind {left[0] if left else ''}"


def _distance(cue: str, tokens: Sequence[str]) -> str:
    reached = tokens[:CUE_REACH]
    return _size(reached.index(cue) + 1) if cue in reached else FAR


def _shape(token: str) -> str:
    """Write a word in lower case, and the digits of any number alike."""
    return re.sub(r"\d", "0", token.lower())


def _size(count: int) -> str:
    """Say how many, roughly: 0, 1, 2, up to 4, up to 8 …"""
    return str(count) if count < 3 else f"<={1 << (count - 1).bit_length()}"
