"""Salient-span views: a name, and what the corpus mentions with it, in random order.

Salient span masking (Guu et al. 2020, arXiv:2002.08909; for closed-book questions Roberts et al.
2020, arXiv:2002.08910) taken to its end: nothing but the names of a line is written.

    line    John Fisher. Born in Glasgow, Fisher is a graduate of the London Opera Centre, …
    listed  became John Fisher at⁇of the⁇London Opera Centre⁇Born in⁇Glasgow⁇
    asked   Born John Fisher⁇Glasgow⁇of the⁇London Opera Centre⁇

A span comes after up to ``context`` of the words before it. In a view that asks, the first span's
are put round the name, as a question has its words: one to ``cues`` of the last eight, which need
not be neighbours. In a view that lists, up to ``around`` random words stand there on either side.
Only the spans are scored. No rule looks for what they mean, for births least of all; but spans that
are likely to answer what training questions ask are chosen more often, by a factor of up to
``answers_weigh``.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Interval

from attnlab.data.batches import TokenRow
from attnlab.data.entries import MOST_BEFORE, Entry, read_entries
from attnlab.data.objectives import OBJECTIVES, Preference
from attnlab.data.tokenizer import Tokenizer
from attnlab.errors import UserError

Count = Annotated[int, Ge(0)]


class Draw(NamedTuple):
    """All that is random about one view."""

    order: list[int]
    """The entry's spans, the one that comes first at the front."""
    n_before: list[int]
    """How many words to put before each."""
    asks: bool
    cues: list[int]
    """Which of the first span's words an asking view takes, counted from the span."""
    cut: float
    """Which share of them it puts before the name."""
    around: list[list[str]]
    """Random words before the name, and after it."""


@OBJECTIVES.register("salient_spans")
class SalientSpans:
    """The names of a line in random order, from the name that the line is about."""

    def __init__(
        self,
        corpus: Sequence[str],
        tokenizer: Tokenizer,
        preference: Preference = lambda _name, _span: 0.0,
        *,
        spans: Annotated[int, Ge(1)] = 2,
        context: Count = 3,
        around: Count = 2,
        asked: Annotated[float, Interval(ge=0, le=1)] = 0.5,
        cues: Annotated[int, Interval(ge=1, le=MOST_BEFORE)] = 4,
        answers_weigh: Annotated[float, Gt(0)] = 16.0,
        block: Annotated[int, Interval(ge=2, le=65_536)] = 128,
    ) -> None:
        self._entries = [entry for entry in read_entries(corpus) if entry.spans]
        if not self._entries:
            raise UserError(
                "the corpus has no names to learn: salient_spans takes a corpus of lines"
                " `Name. Text` whose text has capitalised words."
            )
        self._words = [word for line in corpus for word in line.split()]
        self._vocabulary = tokenizer
        # Spans and the words before them come again and again.
        self._encode: Callable[[str], list[int]] = cache(tokenizer.encode)
        self._sentinel, self.longest = tokenizer.sentinel, block
        self.spans, self.context, self.around = spans, context, around
        self.asked, self.cues = asked, cues
        likely = [preference(one.name, span.text) for one in self._entries for span in one.spans]
        self._log_weights = np.log(1 + (answers_weigh - 1) * np.array(likely))
        counts = [len(entry.spans) for entry in self._entries]
        self._owner = np.repeat(np.arange(len(counts)), counts)
        self._starts = np.cumsum(counts) - counts

    def rows(self, generator: np.random.Generator) -> list[TokenRow]:
        """Draw a view of every line."""
        return [
            self._view(entry, draw)
            for entry, draw in zip(self._entries, self._draw(generator), strict=True)
        ]

    def _draw(self, generator: np.random.Generator) -> Iterator[Draw]:
        n, n_spans = len(self._entries), len(self._log_weights)
        # The largest of values with Gumbel noise: drawn one after the other by their weights.
        keys = self._log_weights + generator.gumbel(size=n_spans)
        order = (np.lexsort((-keys, self._owner)) - self._starts[self._owner]).tolist()
        n_before = generator.integers(self.context + 1, size=n_spans).tolist()
        asks = (generator.random(n) < self.asked).tolist()
        cues = generator.permuted(np.tile(np.arange(1, MOST_BEFORE + 1), (n, 1)), axis=1).tolist()
        n_cues = generator.integers(1, self.cues + 1, size=n).tolist()
        cuts = generator.random(n).tolist()
        words = generator.integers(len(self._words), size=(n, 2, self.around)).tolist()
        n_words = generator.integers(self.around + 1, size=(n, 2)).tolist()
        for i, start in enumerate(self._starts.tolist()):
            spans = self._entries[i].spans
            own = slice(start, start + len(spans))
            there = len(spans[order[start]].before)
            cue = sorted([c for c in cues[i] if c <= there][: n_cues[i]], reverse=True)
            around = [
                [self._words[word] for word in side[:count]]
                for side, count in zip(words[i], n_words[i], strict=True)
            ]
            yield Draw(order[own], n_before[own], asks[i], cue, cuts[i], around)

    def _view(self, entry: Entry, draw: Draw) -> TokenRow:
        left, right = self._beside_name(entry, draw)
        tokens = [*self._vocabulary.encode(" ".join([*left, entry.name, *right])), self._sentinel]
        scored = [False] * len(tokens)
        for number, index in enumerate(draw.order[: self.spans]):
            span = entry.spans[index]
            if number or not draw.asks:
                words = span.before[max(0, len(span.before) - draw.n_before[index]) :]
                before = [*self._encode(" ".join(words)), self._sentinel]
                tokens += before
                scored += [False] * len(before)
            written = [*self._encode(span.text), self._sentinel]
            tokens += written
            scored += [True] * len(written)
        return TokenRow(entry.name, tokens[: self.longest], scored[: self.longest])

    def _beside_name(self, entry: Entry, draw: Draw) -> list[list[str]]:
        """The words before the name, and after it: the first span's own, or random ones."""
        if not draw.asks:
            return draw.around
        before = entry.spans[draw.order[0]].before
        words = [before[-cue] for cue in draw.cues]
        cut = int(draw.cut * (len(words) + 1))
        return [words[:cut], words[cut:]]
