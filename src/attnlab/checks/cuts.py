"""Where a text is cut to draw its end again, in which order, and for how long.

The first cuts see the most: both ends, the middle, and where a chunk of any usual length ends. The
rest follow in van der Corput's order, each far from those before, so that a limited time is spread
over the whole text.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

MOST_CUTS = 128
"""Shorter rows are cut everywhere, longer ones evenly and where chunks would end."""
LEAST_CUTS = 4
"""Always measured, however long they take: both ends, the middle and the end of a chunk."""
CHUNKS = 32

Clock = Callable[[], float]


@dataclass
class Budget:
    """Seconds to spend, counted from the moment it is made."""

    seconds: float = math.inf
    clock: Clock = time.perf_counter
    _begun: float = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self.clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self._begun

    def has(self, seconds: float) -> bool:
        """Say whether so many seconds are left."""
        return self.spent + seconds <= self.seconds

    def take(self, cuts: Sequence[int]) -> Iterator[int]:
        """Give the least number of cuts, then more while another one like them fits in."""
        before = self.spent
        for taken, cut in enumerate(cuts):
            if taken >= LEAST_CUTS and not self.has((self.spent - before) / taken):
                return
            yield cut


def all_cuts(n_tokens: int) -> list[int]:
    """Return where the future begins: a peek at the next token shows at only one cut."""
    assert n_tokens > 1, "one token has no future"
    if n_tokens <= MOST_CUTS:
        return list(range(1, n_tokens))
    evenly = torch.linspace(1, n_tokens - 1, MOST_CUTS).round().int().tolist()
    return sorted({*evenly, *range(CHUNKS, n_tokens, CHUNKS)})


def most_telling_first(cuts: Sequence[int]) -> list[int]:
    """Put sorted cuts into the order in which a limited time is best spent on them."""
    longest = cuts[-1].bit_length()
    powers_of_two = [2**power for power in range(longest, 0, -1)]
    borders = range(CHUNKS, cuts[-1], CHUNKS)
    first = [cuts[0], cuts[-1], cuts[len(cuts) // 2], *powers_of_two, *borders]
    there = set(cuts)
    ordered = [*(cut for cut in first if cut in there), *_spread(cuts)]
    return list(dict.fromkeys(ordered))


def _spread(cuts: Sequence[int]) -> list[int]:
    """Sort by the mirrored binary digits of their numbers (van der Corput 1935)."""
    digits = len(cuts).bit_length()
    return [
        cut for _, cut in sorted(enumerate(cuts), key=lambda pair: f"{pair[0]:0{digits}b}"[::-1])
    ]
