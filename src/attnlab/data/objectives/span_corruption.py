"""Span corruption with one span (after T5, Raffel et al. 2020), as the knowledge course asks.

    document   Khatchig Mouradian. Khatchig Mouradian is a journalist, …
    cut        Khatchig Mouradian. Khat              4 … 7/8 of a block long
    row        Khatchig Mo⁇. Khat⁇uradian           prefix ⁇ suffix ⁇ span

The model reads what is left, and writes the span after the second ⁇. The course's printed examples
end with a third ⁇, which its rule does not have: ``closing`` puts it there.

Where positions are learned, a name is known at the places where it stood. ``shift`` lets a text
begin that far into the block, after padding, so that its name stands where the questions have it.

What was read after a text's own words is found again after those words only. ``from_name`` is the
share of rows in which the document is not cut and the span opens right after the name and ends
before some other name. That one must then be foretold from the first name alone, behind a ⁇, which
is what a question asks for:

    John Stephen⁇Glasgow, Stephen became a welder's apprentice …⁇. Born in
"""

from collections.abc import Collection, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Interval
from jaxtyping import Int

from attnlab.data.batches import TokenRow
from attnlab.data.entries import WORD, split_name
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.vocabulary import Vocabulary

SHORTEST = 4
"""Of a cut document; one that is shorter from the beginning stays whole."""
SMALLEST_BLOCK = 24
"""Below it the longest cut and its marks do not fit."""
PAD_TOKEN = 0


class Span(NamedTuple):
    """How far a document is read, and from where to where it is taken out."""

    length: int
    start: int
    end: int


@OBJECTIVES.register("span_corruption")
class SpanCorruption:
    """A span of each line is taken out and written at its end."""

    def __init__(
        self,
        corpus: Sequence[str],
        vocabulary: Vocabulary,
        answers: Collection[str] = (),
        *,
        block: Annotated[int, Ge(SMALLEST_BLOCK)] = 128,
        closing: bool = False,
        shift: Annotated[int, Ge(0)] = 0,
        from_name: Annotated[float, Interval(ge=0, le=1)] = 0.0,
    ) -> None:
        del answers
        # No row needs more of a document than this.
        self._documents = [vocabulary.encode(line)[: block * 7 // 8] for line in corpus]
        self._names = [len(vocabulary.encode(split_name(line)[0])) for line in corpus]
        self._others = [
            _name_starts(document, vocabulary, after=name)
            for document, name in zip(self._documents, self._names, strict=True)
        ]
        self._from_name = from_name
        self._mark, self._block, self._closing = vocabulary.mark, block, closing
        self._shift = shift
        self.longest = block

    def rows(self, generator: np.random.Generator) -> list[TokenRow]:
        """Corrupt every line once."""
        spans = draw_spans(self._documents, generator, block=self._block)
        if self._from_name:
            spans = self._opened_after_names(spans, generator)
        corrupted = move_spans(self._documents, spans, mark=self._mark, closing=self._closing)
        return [
            _shifted(f"document {number}", row, min(self._shift, self._block - len(row)))
            for number, row in enumerate(corrupted, 1)
        ]

    def _opened_after_names(
        self, spans: Sequence[Span], generator: np.random.Generator
    ) -> list[Span]:
        """Let some spans open after the name and end before any other one in the next half."""
        opened = []
        draws = generator.random((len(spans), 2)).tolist()
        for i, (span, (whether, which)) in enumerate(zip(spans, draws, strict=True)):
            length, name = len(self._documents[i]), self._names[i]
            ends = [end for end in self._others[i] if end <= name + length // 2]
            if whether < self._from_name and ends:
                span = Span(length, name, ends[int(which * len(ends))])
            opened.append(span)
        return opened


def _name_starts(document: Sequence[int], vocabulary: Vocabulary, *, after: int) -> list[int]:
    """Return where other names begin: words in capitals, but not those of the document's own."""
    texts = [vocabulary.decode([token]) for token in document]
    own = set(WORD.findall("".join(texts[:after])))
    starts = [
        i
        for i in range(after + 1, len(texts))
        if texts[i].strip()[:1].isupper() and (texts[i - 1][-1:] == " " or texts[i][:1] == " ")
    ]
    return [i for i in starts if WORD.findall("".join(texts[i:]))[0] not in own]


def _shifted(id: str, row: list[int], shift: int) -> TokenRow:
    """Put padding, which is not scored, before a row."""
    if not shift:
        return TokenRow(id, row)
    return TokenRow(id, [PAD_TOKEN] * shift + row, [False] * shift + [True] * len(row))


def draw_spans(
    documents: Sequence[Sequence[int]], generator: np.random.Generator, *, block: int
) -> list[Span]:
    """Draw how far each document is read, and which span of that is taken out.

    Every length from 4 to 7/8 of the block, as far as the document reaches, is equally likely, and
    every place of the span; it has a quarter of the cut document on average.
    """
    longest = np.minimum([len(document) for document in documents], block * 7 // 8)
    lengths = generator.integers(np.minimum(SHORTEST, longest), longest + 1)
    sizes = span_sizes(lengths, generator)
    starts = generator.integers(0, lengths - sizes + 1)
    table = np.stack([lengths, starts, starts + sizes], axis=1)
    return [Span(*row) for row in table.tolist()]


def corrupt(
    documents: Sequence[Sequence[int]],
    generator: np.random.Generator,
    *,
    block: int,
    mark: int,
    closing: bool = False,
) -> list[list[int]]:
    """Cut each document, take a span out and put it at the end, as ``draw_spans`` draws."""
    spans = draw_spans(documents, generator, block=block)
    return move_spans(documents, spans, mark=mark, closing=closing)


def move_spans(
    documents: Sequence[Sequence[int]], spans: Sequence[Span], *, mark: int, closing: bool = False
) -> list[list[int]]:
    """Cut each document, take its span out and put it at the end; without padding."""
    last = [mark] if closing else []
    return [
        [*text[:start], mark, *text[end:length], mark, *text[start:end], *last]
        for text, (length, start, end) in zip(documents, spans, strict=True)
    ]


def span_sizes(
    lengths: Int[np.ndarray, " N"], generator: np.random.Generator
) -> Int[np.ndarray, " N"]:
    """Draw sizes from 1 on, all equally likely, whose mean is a quarter of the length.

    The sizes 1 … m have the mean (1 + m) / 2; for an odd length m is one of two numbers, in turns.
    """
    largest = lengths // 2 - 1 + (lengths % 2) * generator.integers(2, size=len(lengths))
    return generator.integers(1, np.maximum(largest, 1) + 1)
