"""Claims that are intervals: [73.6, 87.9], "95 % CI 73.6 to 87.9" or "95 %: 73.6 – 87.9"."""

import re
from collections.abc import Iterator, Sequence

from attnlab.evaluation.claims.attribution import Span
from attnlab.evaluation.claims.citations import Cited
from attnlab.evaluation.claims.numbers import Number, numbers_in
from attnlab.evaluation.claims.verdicts import Judgement
from attnlab.evaluation.metrics import metric_called
from attnlab.runs.directory import Run

_NUMBER = r"[\d.]+\s*%?"
_LEVEL = r"\b9[059]\s?%\s*:"
_INTERVAL = re.compile(
    rf"\[\s*{_NUMBER}\s*(?:[,;–—-]|to)\s*{_NUMBER}\s*\]"
    rf"|(?:\b(?:CI|intervals?)\b[^\d\n]{{0,20}}|{_LEVEL}\s*){_NUMBER}\s*(?:[,;–—-]|to|and)\s*{_NUMBER}",
    re.I,
)
_SIGNED = rf"[-+−]\s?{_NUMBER}"
_LEVEL_OR_DIFFERENCE = re.compile(rf"(?<=\(){_LEVEL}(?:\s*{_SIGNED}\s*(?:to|,|–)\s*{_SIGNED})?")


def intervals_in(text: str) -> list[Span]:
    """Find the intervals of a text; what they hold is no score."""
    return [Span(*match.span()) for match in _INTERVAL.finditer(text)]


def levels_in(text: str) -> list[Span]:
    """Find levels of confidence and intervals of differences, "(95 %: +1.2 to +3.4)": no scores."""
    return [Span(*match.span()) for match in _LEVEL_OR_DIFFERENCE.finditer(text)]


def judge_interval(text: str, cited: Sequence[Cited]) -> Judgement | None:
    """Hold an interval against those of the runs; another method gives another, which is open."""
    bounds = list(numbers_in(re.sub(r"[-–—]", " ", text)))[-2:]
    runs = [run for one in cited for run in one.runs if run.finished]
    recorded = list(_recorded(runs))
    if len(bounds) < 2 or not recorded:
        return None
    for interval, scale, written in recorded:
        low, high = interval
        if _fits(bounds[0], low, scale) and _fits(bounds[1], high, scale):
            return Judgement("supported", written)
    listed = "; ".join(written for *_, written in recorded)
    return Judgement("open", f"recorded: {listed}. Another method gives another interval")


def _recorded(runs: Sequence[Run]) -> Iterator[tuple[tuple[float, float], float, str]]:
    for run in runs:
        for split, score in run.record["scores"].items():
            metric, (low, high) = metric_called(score["metric"]), score["interval"]
            written = f"{run.name}: {metric.write(low)} to {metric.write(high)} on {split}"
            yield (low, high), 100 if metric.in_percent else 1, written


def _fits(bound: Number, value: float, scale: float) -> bool:
    is_share = scale == 100 and bound.value <= 1 and not bound.in_percent
    return bound.fits(value, scale=1 if is_share else scale)
