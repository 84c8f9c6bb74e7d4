"""Span corruption with one span (after T5, Raffel et al. 2020), as the knowledge course asks.

    document   Khatchig Mouradian. Khatchig Mouradian is a journalist, …
    cut        Khatchig Mouradian. Khat              4 … 7/8 of a block long
    row        Khatchig Mo⁇. Khat⁇uradian           prefix ⁇ suffix ⁇ span

The model reads what is left, and writes the span after the second ⁇. The course's printed examples
end with a third ⁇, which its rule does not have: ``closing`` puts it there.
"""

from collections.abc import Sequence

import numpy as np

SHORTEST = 4
"""Of a cut document; one that is shorter from the beginning stays whole."""


def corrupt(
    document: Sequence[int],
    generator: np.random.Generator,
    *,
    block: int,
    mark: int,
    closing: bool = False,
) -> list[int]:
    """Cut a document, take a span out and put it at the end; without padding.

    Every length from 4 to 7/8 of the block, as far as the document reaches, is equally likely, and
    every place of the span; it has a quarter of the cut document on average.
    """
    longest = min(len(document), block * 7 // 8)
    length = int(generator.integers(min(SHORTEST, longest), longest + 1))
    size = span_size(length, generator)
    start = int(generator.integers(0, length - size + 1))
    cut = list(document[:length])
    prefix, span, suffix = cut[:start], cut[start : start + size], cut[start + size :]
    return [*prefix, mark, *suffix, mark, *span, *([mark] if closing else [])]


def span_size(length: int, generator: np.random.Generator) -> int:
    """Draw a size from 1 on, all equally likely, whose mean is a quarter of the length.

    The sizes 1 … m have the mean (1 + m) / 2; for an odd length m is one of two numbers, in turns.
    """
    largest = length // 2 - 1 + (length % 2) * int(generator.integers(2))
    return int(generator.integers(1, max(largest, 1) + 1))
