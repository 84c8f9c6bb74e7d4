"""The checks of 2(e) over many draws together, and how often they fail a correct dataset.

The bounds hold for a data set whose cuts and places are equally likely and whose span has a quarter
of the cut on average, to within what rounding does (``ROUNDING``); that of the quarter is Hoeffding's
inequality, 2 exp(−2 n t²) for the mean of n numbers between 0 and 1 to be off by t.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from grading.findings import Finding, judge, not_judged
from grading.knowledge.examples import Draws, Parts, cut_up

TOLERANCE = {"all": 0.07, "the shorter": 0.13, "the longer": 0.11}
"""How far the mean share of the span may be from a quarter, in all cuts and in each half."""
ROUNDING = {"all": 0.03, "the shorter": 0.065, "the longer": 0.05}
"""How much of that a correct mean may use up, e.g. by rounding to whole characters."""
LONG, OFTEN = 16, 30
"""Cuts in which a span has many sizes and places, and how many draws of a cut show them."""


def grade(draws: Sequence[Draws], n_characters: int, *, readable: bool) -> list[Finding]:
    """Judge the draws of the longest document, if rows can be read at all."""
    if not readable:
        why = "cannot be seen while a check above fails"
        return [not_judged(name, wanted, why) for name, wanted, _ in CHECKS]
    chosen = [d for d in draws if d.n_characters == n_characters]
    return [judge(name, wanted, *check(chosen)) for name, wanted, check in CHECKS]


def false_failure(draws: Sequence[Draws], n_characters: int) -> float:
    """Bound the probability that a right data set fails one of these checks."""
    chosen = [d for d in draws if d.n_characters == n_characters]
    return sum(_bound(d, cut_up(d.rows)) for d in chosen)


def _bound(d: Draws, parts: Parts) -> float:
    n, n_lengths = len(d.x), d.longest - 3
    missed = n_lengths * (1 - 1 / n_lengths) ** n
    off = 0.0
    for name, chosen in _halves(parts, d).items():
        distance = TOLERANCE[name] - ROUNDING[name]
        off += 2 * math.exp(-2 * chosen.sum() * distance**2)
    long = int((parts.whole >= LONG).sum())
    unseen = 2 * (1 - 1 / d.longest) ** long + 4 * 0.8**long
    one_size = sum(0.5 ** (count - 1) for count in _often(parts).values())
    return missed + off + unseen + one_size + n_lengths ** -(n - 1.0)


def _lengths(draws: Sequence[Draws]) -> tuple[str | None, str]:
    for d in draws:
        whole = cut_up(d.rows).whole
        missing = sorted(set(range(4, d.longest + 1)) - set(whole.tolist()))
        if missing:
            some = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
            of = f"{len(missing)} of {d.longest - 3} lengths"
            return f"block {d.block}: {of} never occurred in {len(whole):,} draws: {some}", ""
    spans = " and ".join(f"4 … {d.longest}" for d in draws)
    return None, f"every length of {spans} occurred"


def _quarter(draws: Sequence[Draws]) -> tuple[str | None, str]:
    means = []
    for d in draws:
        parts = cut_up(d.rows)
        share = parts.span / np.maximum(parts.whole, 1)
        for name, chosen in _halves(parts, d).items():
            mean = float(share[chosen].mean()) if chosen.any() else 0.25
            if abs(mean - 0.25) > TOLERANCE[name]:
                off = f"{mean:.3f}, more than {TOLERANCE[name]} from 0.25"
                cuts = "all cuts" if name == "all" else f"{name} cuts"
                return f"block {d.block}: the mean share of the span in {cuts} is {off}", ""
        means.append(f"{float(share.mean()):.3f} (block {d.block})")
    return None, f"mean share {' and '.join(means)}"


def _sizes(draws: Sequence[Draws]) -> tuple[str | None, str]:
    for d in draws:
        parts = cut_up(d.rows)
        for length, count in _often(parts).items():
            sizes = set(parts.span[parts.whole == length].tolist())
            if len(sizes) == 1:
                same = f"all {count} cuts of {length} have a span of {sizes.pop()}"
                return f"block {d.block}: {same}", ""
    return None, "cuts of the same length have spans of several"


def _places(draws: Sequence[Draws]) -> tuple[str | None, str]:
    for d in draws:
        parts = cut_up(d.rows)
        long = (parts.whole >= LONG) & (parts.prefix + parts.suffix > 0)
        prefix, suffix = parts.prefix[long], parts.suffix[long]
        if (prefix > 0).all():
            return f"block {d.block}: the span is never at the beginning", ""
        if (suffix > 0).all():
            return f"block {d.block}: the span is never at the end", ""
        quarters = np.minimum(prefix * 4 // (prefix + suffix), 3)
        missing = sorted({0, 1, 2, 3} - set(quarters.tolist()))
        if missing:
            return f"block {d.block}: no span begins in quarter {missing[0] + 1} of the places", ""
    return None, "beginning, middle and end"


def _fresh(draws: Sequence[Draws]) -> tuple[str | None, str]:
    for d in draws:
        if (d.x == d.x[0]).all():
            return f"block {d.block}: all {len(d.x):,} draws of a document are the same", ""
    n_rows = ", ".join(f"{len(np.unique(d.x, axis=0)):,} of {len(d.x):,}" for d in draws)
    return None, f"different draws: {n_rows}"


def _halves(parts: Parts, d: Draws) -> dict[str, np.ndarray]:
    """Choose all cuts, those of the shorter half of the lengths, and the others."""
    shorter = parts.whole <= (4 + d.longest) // 2
    return {"all": np.ones_like(shorter), "the shorter": shorter, "the longer": ~shorter}


def _often(parts: Parts) -> dict[int, int]:
    """Count the long cuts, where there are enough of a length to see several sizes."""
    values, counts = np.unique(parts.whole[parts.whole >= LONG], return_counts=True)
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return {value: count for value, count in pairs if count >= OFTEN}


Check = Callable[[Sequence[Draws]], tuple[str | None, str]]
CHECKS: tuple[tuple[str, str, Check], ...] = (
    ("every length", "each cut from 4 to 7/8 of the block is possible", _lengths),
    ("a quarter", "the span has a quarter of the cut document on average", _quarter),
    ("random size", "the span's length is random", _sizes),
    ("any place", "the span may be anywhere", _places),
    ("fresh draws", "examples are drawn at random", _fresh),
)
