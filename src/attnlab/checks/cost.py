"""What a computation costs against the length of its input: seconds, memory, and how they grow."""

import statistics
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Work = Callable[[], object]
SHORT = 128
"""A length that everything can do."""
DRAWS = 1000
WIDEST_INTERVAL = 0.5
"""An exponent between 1 and 1.5 still tells linear from quadratic; a wider range does not."""


@dataclass(frozen=True)
class Cost:
    """One computation at one length."""

    name: str
    length: int
    seconds: float
    """Median over the rounds."""
    peak_bytes: int
    """Most that tensors held at once, what was there before not counted."""
    rounds: tuple[float, ...] = ()
    """Seconds of every round."""

    @property
    def spread(self) -> float | None:
        """Half the interquartile range relative to the median; None with fewer than two rounds."""
        if len(self.rounds) < 2:
            return None
        low, high = np.percentile(self.rounds, [25, 75])
        return float(high - low) / 2 / self.seconds


@dataclass(frozen=True)
class Growth:
    """How time grows: seconds ∝ length^exponent."""

    exponent: float
    interval: tuple[float, float]
    """Where 90 % of the exponents lie if each length draws its round at random."""

    @property
    def is_open(self) -> bool:
        """Whether the rounds differ so much that the exponent says nothing."""
        low, high = self.interval
        return high - low > WIDEST_INTERVAL


@dataclass(frozen=True)
class Limits:
    """Where to stop: what would need more than this at the next length is left out there."""

    peak_bytes: float = 4e9
    seconds: float = 10.0


def measure_costs(
    candidates: Mapping[str, Callable[[int], Work]],
    lengths: Sequence[int],
    *,
    rounds: int = 7,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    on_round: Callable[[], None] = lambda: None,
) -> list[Cost]:
    """Measure all candidates, length by length; they take turns, so that noise hurts all alike.

    A candidate makes its work for a length. Every round has another order, and each work is done
    once unwatched before it is timed: it must not pay for the memory that its neighbour used.
    """
    shuffle = np.random.default_rng(0)
    costs = [_probe(name, make, min(SHORT, *lengths)) for name, make in candidates.items()]
    for length in sorted(lengths):
        going = {n: m for n, m in candidates.items() if _fits(n, length, costs, limits)}
        works = {name: make(length) for name, make in going.items()}
        peaks = {name: peak_bytes(work) for name, work in works.items()}
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(rounds):
            for name in shuffle.permutation(list(works)):
                work = works[name]
                work()
                began = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - began)
            on_round()
        costs += [
            Cost(name, length, statistics.median(taken), peaks[name], tuple(taken))
            for name, taken in seconds.items()
        ]
    return costs[len(candidates) :]


def _probe(name: str, make: Callable[[int], Work], length: int) -> Cost:
    """Do it once for a short input, to know what a longer one will need."""
    work = make(length)
    peak = peak_bytes(work)
    began = time.perf_counter()
    work()
    return Cost(name, length, time.perf_counter() - began, peak)


def growth(costs: Sequence[Cost], name: str, *, above: int = 0) -> Growth | None:
    """Fit seconds ∝ length^e to the lengths from ``above`` on; None with fewer than two."""
    points = [c for c in costs if c.name == name and c.length >= above]
    if len(points) < 2:
        return None
    draw = np.random.default_rng(0)
    lengths = np.log([c.length for c in points])
    drawn = np.array([draw.choice(c.rounds or (c.seconds,), size=DRAWS) for c in points])
    medians = np.log([c.seconds for c in points])
    low, high = np.percentile(np.polyfit(lengths, np.log(drawn), 1)[0], [5, 95])
    return Growth(float(np.polyfit(lengths, medians, 1)[0]), (float(low), float(high)))


def crossover(costs: Sequence[Cost], name: str, other: str) -> dict[str, int | None]:
    """Return from which measured length on a candidate takes less time, and less memory.

    None if it does not at the longest length that both were measured at.
    """
    by_length = {
        length: (one, two)
        for length in sorted({cost.length for cost in costs})
        if (one := _cost_of(costs, name, length)) and (two := _cost_of(costs, other, length))
    }
    found: dict[str, int | None] = {"seconds": None, "peak_bytes": None}
    for what in found:
        for length, pair in reversed(by_length.items()):
            own, others = (getattr(cost, what) for cost in pair)
            if own >= others:
                break
            found[what] = length
    return found


def _cost_of(costs: Sequence[Cost], name: str, length: int) -> Cost | None:
    return next((cost for cost in costs if (cost.name, cost.length) == (name, length)), None)


def peak_bytes(work: Work) -> int:
    """Do the work once and return the most bytes its tensors held at once."""
    memory = _PeakMemory()
    with memory:
        work()
    return memory.peak


def _fits(name: str, length: int, costs: Sequence[Cost], limits: Limits) -> bool:
    """Expect a quadratic rise from the last length, and stay below the limits."""
    last = [cost for cost in costs if cost.name == name][-1]
    rise = (length / last.length) ** 2
    return last.peak_bytes * rise <= limits.peak_bytes and last.seconds * rise <= limits.seconds


class _PeakMemory(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the storages that operations make, and when they go."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live, self.peak = 0, 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor):
                self._count(tensor)
        return out

    def _count(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata in self._known:
            return
        self._known.add(storage._cdata)
        self.live += storage.nbytes()
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._forget, storage._cdata, storage.nbytes())

    def _forget(self, key: int, n_bytes: int) -> None:
        self._known.discard(key)
        self.live -= n_bytes
