"""Span corruption with one span (after T5, Raffel et al. 2020), as in the knowledge course.

    document   Khatchig Mouradian. Khatchig Mouradian is a journalist, …
    cut        Khatchig Mouradian. Khat              4 … 7/8 of a block long
    row        Khatchig Mo⁇. Khat⁇uradian           prefix ⁇ suffix ⁇ span

The model reads what is left, and writes the span after the second ⁇. The course's printed examples
end with a third ⁇, which its rule does not have: ``closing`` puts it there.

Where positions are learned, a name is known at the places where it stood. ``shift`` lets a text
begin that far into the block, after padding, so that its name stands where the questions have it.

A text can be met in more than one form, which the course's rule does not have. With ``jitter``,
each row begins up to that many tokens earlier or later. The share ``untitled`` of the rows leaves
out the title, the name before the first full stop, where the text begins with that name again.

What stands late in a text is rarely in a cut whose lengths are all equally likely. ``draws`` draws
several lengths for a row and takes the longest; every length remains possible, as the rule has it.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval
from jaxtyping import Int

from attnlab.data.batches import TokenRow
from attnlab.data.entries import split_name
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.tokenizer import Tokenizer

SHORTEST = 4
"""Of a cut document; one that is shorter from the beginning stays whole."""
SMALLEST_BLOCK = 24
"""Below it the longest cut and its marks do not fit."""
PAD_TOKEN = 0


@OBJECTIVES.register("span_corruption")
class SpanCorruption:
    """A span of each line is taken out and written at its end."""

    def __init__(
        self,
        corpus: Sequence[str],
        tokenizer: Tokenizer,
        preference: object = None,
        *,
        block: Annotated[int, Interval(ge=SMALLEST_BLOCK, le=65_536)] = 128,
        closing: bool = False,
        shift: Annotated[int, Ge(0)] = 0,
        jitter: Annotated[int, Ge(0)] = 0,
        untitled: Annotated[float, Interval(ge=0, le=1)] = 0.0,
        draws: Annotated[int, Interval(ge=1, le=100)] = 1,
    ) -> None:
        del preference
        # No row needs more of a document than this.
        most = block * 7 // 8
        self._documents = [tokenizer.encode(line)[:most] for line in corpus]
        self._untitled = (
            [tokenizer.encode(without_title(line))[:most] for line in corpus] if untitled else []
        )
        self._sentinel, self._block, self._closing = tokenizer.sentinel, block, closing
        self._shift, self._jitter, self._share, self._draws = shift, jitter, untitled, draws
        self.longest = block

    def rows(self, generator: np.random.Generator) -> list[TokenRow]:
        """Corrupt every line once."""
        corrupted = corrupt(
            self._drawn(generator),
            generator,
            block=self._block,
            sentinel=self._sentinel,
            closing=self._closing,
            draws=self._draws,
        )
        shifts = [self._shift] * len(corrupted)
        if self._jitter:
            drawn = generator.integers(-self._jitter, self._jitter + 1, size=len(corrupted))
            shifts = (self._shift + drawn).tolist()
        return [
            TokenRow(f"document {number}", row).shifted(
                min(shift, self._block - len(row)), pad=PAD_TOKEN
            )
            for number, (row, shift) in enumerate(zip(corrupted, shifts, strict=True), 1)
        ]

    def _drawn(self, generator: np.random.Generator) -> Sequence[Sequence[int]]:
        """Return every document, some without their titles; without a share nothing is drawn."""
        if not self._share:
            return self._documents
        is_untitled = (generator.random(len(self._documents)) < self._share).tolist()
        forms = zip(self._documents, self._untitled, is_untitled, strict=True)
        return [bare if without else whole for whole, bare, without in forms]


def without_title(line: str) -> str:
    """Leave out the name before the first full stop, if the text begins with that name again."""
    name, text = split_name(line)
    return text if name and text.startswith(name) else line


def corrupt(
    documents: Sequence[Sequence[int]],
    generator: np.random.Generator,
    *,
    block: int,
    sentinel: int,
    closing: bool = False,
    draws: int = 1,
) -> list[list[int]]:
    """Cut each document, take a span out and put it at the end; without padding.

    Every length from 4 to 7/8 of the block, as far as the document reaches, is equally likely in
    each of the draws, and every place of the span; it has a quarter of the cut document on average.
    """
    longest = np.minimum([len(document) for document in documents], block * 7 // 8)
    shape = (draws, len(documents))
    lengths = generator.integers(np.minimum(SHORTEST, longest), longest + 1, size=shape).max(axis=0)
    sizes = span_sizes(lengths, generator)
    starts = generator.integers(0, lengths - sizes + 1)
    end = [sentinel] if closing else []
    return [
        [
            *text[:start],
            sentinel,
            *text[start + size : length],
            sentinel,
            *text[start : start + size],
            *end,
        ]
        for text, length, size, start in zip(
            documents, lengths.tolist(), sizes.tolist(), starts.tolist(), strict=True
        )
    ]


def span_sizes(
    lengths: Int[np.ndarray, " N"], generator: np.random.Generator
) -> Int[np.ndarray, " N"]:
    """Draw sizes from 1 on, all equally likely, whose mean is a quarter of the length.

    The sizes 1 … m have the mean (1 + m) / 2; for an odd length m is one of two numbers, in turns.
    """
    largest = lengths // 2 - 1 + (lengths % 2) * generator.integers(2, size=len(lengths))
    return generator.integers(1, np.maximum(largest, 1) + 1)
