"""Claims that are numbers: found in a sentence or a row, and held against what runs recorded."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from attnlab.evaluation.claims.attribution import Span, attributed
from attnlab.evaluation.claims.citations import Cited
from attnlab.evaluation.claims.interval_claims import intervals_in, levels_in
from attnlab.evaluation.claims.numbers import Number, numbers_in
from attnlab.evaluation.claims.quantities import (
    FAR,
    ROWS,
    SEEDS,
    SPLIT_NAMES,
    Quantity,
    quantity_of,
    splits_in,
)
from attnlab.evaluation.claims.recorded import TOGETHER, Value, baselines_of, values_of
from attnlab.evaluation.claims.verdicts import Judgement, worthless
from attnlab.evaluation.ledger import was_trained_on
from attnlab.runs.directory import Run

MOST_SHOWN = 4
_GUESSING = re.compile(
    r"\b(?:majority|baseline|chance|guess\w*|always \w+|most (?:common|frequent)|constant)\b", re.I
)
_PLACE_IN_TRAINING = re.compile(r"\b(?:epochs?|steps?|peaks?|during training)\b", re.I)
_ROLES = {*chain(*SPLIT_NAMES.values()), "unseen", "calibration", TOGETHER, ""}
"""Splits that are called so in every run; any other is called after the file that was scored."""
_WHOLE_LENGTH = re.compile(r"(?:\bfor|=|:|×|\btakes|\btook|\bof)\s*(?:all|about|only)?\s*$", re.I)
_LISTED = re.compile(r"\s*(?:,|/|,?\s*and|or|vs\.?|versus|against|compared (?:to|with))\s*", re.I)
_ALL_ROWS = re.compile(
    r"\b(?:train|evaluat|test|scor|tun|measur)\w*\s+(?:on|with|from)\s+(?:the|all|a total of)?\s*$",
    re.I,
)
_MEAN = re.compile(r"\b(?:mean|average)\b", re.I)
_TOOK = re.compile(r"\btrain|\btook\b|\btakes?\b|\brun time|\bruntime", re.I)


@dataclass(frozen=True)
class Found:
    """A number in a text, and what it seems to be."""

    number: Number
    quantity: Quantity
    split: str = ""
    """Which kind of split the text names; empty if none."""
    is_guessing: bool = False
    """Whether it is about guessing, and not about a model."""
    is_mean: bool = False
    """Whether it is called a mean, which no single seed is."""
    is_firm: bool = True
    """Whether it is plain enough what it is to be contradicted, if it is no score."""


def found_in(text: str) -> list[Found]:
    """Find the numbers of a sentence that runs may have recorded."""
    skipped = [*intervals_in(text), *levels_in(text)]
    numbers = [
        (n, q)
        for n, q in _with_quantity(text)
        if _is_total(text, n, q) and not any(s.start <= n.start < s.end for s in skipped)
    ]
    scores = [n for n, q in numbers if q.kind == "score"]
    splits = splits_in(text)
    owners = attributed(
        text, [Span(n.start, n.end) for n in scores], [Span(s, e) for s, e, _ in splits]
    )
    by_number = {
        n.start: splits[i][2] for n, i in zip(scores, owners, strict=True) if i is not None
    }
    return [
        Found(
            n,
            q,
            by_number.get(n.start) or (_split_of_rows(text, n) if q is ROWS else ""),
            _is_guessing(text, n) and q.kind == "score",
            bool(_MEAN.search(text)),
            is_firm=q is not ROWS or bool(_ALL_ROWS.search(text[max(0, n.start - FAR) : n.start])),
        )
        for n, q in numbers
    ]


def _with_quantity(text: str) -> Iterator[tuple[Number, Quantity]]:
    """Give numbers with what they are; in "84 % and 82 %", the second is what the first is."""
    earlier: tuple[Number, Quantity] | None = None
    for number in numbers_in(text):
        quantity = quantity_of(text, number)
        if quantity is None and earlier is not None:
            gap = text[earlier[0].end : number.start]
            is_alike = earlier[0].in_percent == number.in_percent and not number.is_whole
            quantity = earlier[1] if is_alike and _LISTED.fullmatch(gap) else None
        earlier = (number, quantity) if quantity else None
        if quantity:
            yield number, quantity


def owners_of(
    text: str, found: Sequence[Found], mentions: Sequence[tuple[Span, Cited]]
) -> list[Sequence[Cited]]:
    """Return what each number is about; where that is not clear, everything that is named."""
    owners: dict[int, Sequence[Cited]] = {}
    everyone = tuple(dict.fromkeys(cited for _, cited in mentions))
    names = [span for span, _ in mentions]
    for quantity in dict.fromkeys(one.quantity.name for one in found):
        of_kind = [one for one in found if one.quantity.name == quantity and not one.is_guessing]
        spans = [Span(one.number.start, one.number.end) for one in of_kind]
        for one, index in zip(of_kind, attributed(text, spans, names), strict=True):
            owners[one.number.start] = everyone if index is None else (mentions[index][1],)
    return [owners.get(one.number.start, everyone) for one in found]


def judge(found: Found, cited: Sequence[Cited], text: str) -> Judgement | None:
    """Hold a number against what the runs recorded; None if it is better left alone.

    ``text`` is the paragraph, which may say what a score is not worth.
    """
    runs = list({run.path: run for one in cited for run in one.runs}.values())
    if unfinished := [run.name for run in runs if not run.finished]:
        return Judgement("open", f"{', '.join(unfinished)}: not finished, so nothing is recorded")
    values = list(baselines_of(runs)) if found.is_guessing else values_of(runs, found.quantity)
    values = [one for one in values if _can_be_meant(found, one, text)]
    if found.is_mean:
        values = [one for one in values if len(one.runs) > 1] or values
    if not values:
        return _nothing_recorded(found, runs)
    fitting = [one for one in values if fits(found, one)]
    here = [one for one in fitting if _is_on(one, found.split)]
    if here:
        return _supported(found, min(here, key=lambda one: one.is_logged), text)
    return _refuted(found, values, fitting)


def fits(found: Found, value: Value) -> bool:
    """Say whether a recorded value is what is written: in percent, or as a share."""
    number = found.number
    if found.quantity is SEEDS:
        number = replace(number, bound="")  # "over 3 seeds" are not more than 3
    if not value.is_share:
        return number.fits(value.value, scale=found.quantity.scale)
    in_percent = number.in_percent or number.value > 1
    return number.fits(value.value, scale=100 if in_percent else 1)


def _supported(found: Found, value: Value, text: str) -> Judgement:
    if found.quantity.kind != "score" or found.is_guessing:
        return Judgement("supported", _listed([value]))
    split = found.split if found.split == "train" else value.split  # called train, it is no slip
    if doubt := worthless(value.runs, _metric(found, value), split, text):
        return replace(doubt, reason=f"{_listed([value])}, but {doubt.reason}")
    return Judgement("supported", _listed([value]))


def _refuted(found: Found, values: Sequence[Value], fitting: Sequence[Value]) -> Judgement | None:
    """Give the right values; what is only a setting or size of a run named elsewhere is skipped."""
    on_split = _on(values, found.split)
    if fitting:
        right = f"but {_listed(on_split)}" if on_split else f"and nothing on {found.split}"
        first = min(fitting, key=lambda one: one.is_logged)
        return Judgement("contradicted", f"{_listed([first])}, {right}")
    if found.quantity.kind != "score" and not (found.is_firm or found.split):
        return None
    if found.quantity is SEEDS and len(values[0].runs) == 1:
        return Judgement("open", "only one run is cited; cite every seed, or the study")
    finals = [one for one in values if not one.is_logged] or values
    if found.split and not on_split:
        return Judgement("open", f"nothing is recorded on {found.split}, but {_listed(finals)}")
    return Judgement("contradicted", _listed(on_split or finals))


def _nothing_recorded(found: Found, runs: Sequence[Run]) -> Judgement | None:
    if not found.is_firm or found.quantity.kind == "setting":
        return None
    names = ", ".join(run.name for run in runs)
    what = "baseline" if found.is_guessing else found.quantity.name.replace("_", " ")
    return Judgement("open", f"{names} has recorded no {what}")


def _on(values: Sequence[Value], split: str) -> list[Value]:
    finals = [one for one in values if not one.is_logged and _is_on(one, split)]
    return finals or [one for one in values if _is_on(one, split)][-1:]


def _is_on(value: Value, split: str) -> bool:
    is_file = value.split not in _ROLES
    if is_file and split == "train":
        is_file = all(was_trained_on(run.record, value.split) for run in value.runs)
    return not split or value.split in SPLIT_NAMES[split] or is_file


def _can_be_meant(found: Found, value: Value, text: str) -> bool:
    """Leave out a perplexity where a percentage is written, and a log of which nobody speaks."""
    if found.number.in_percent and not value.is_share:
        return False
    if value.split == "train" and found.quantity.kind == "score":
        return found.split == "train"
    return not value.is_logged or bool(_PLACE_IN_TRAINING.search(text))


def _listed(values: Sequence[Value]) -> str:
    """Write values by run, each run's name once."""
    by_run: dict[str, list[str]] = {}
    for one in dict.fromkeys(values):
        texts = by_run.setdefault(one.runs[0].name if len(one.runs) == 1 else "", [])
        if one.written not in texts and len(texts) < MOST_SHOWN:
            texts.append(one.written)
    return "; ".join(
        f"{name}: {', '.join(t)}" if name else ", ".join(t) for name, t in by_run.items()
    )


def _metric(found: Found, value: Value) -> str:
    score = value.runs[0].record["scores"].get(value.split, {})
    return found.quantity.name if found.quantity.name != "score" else score.get("metric", "score")


def _is_total(text: str, number: Number, quantity: Quantity) -> bool:
    """Leave out what is no total: "after 3 epochs", "every 50 steps", seconds of no training."""
    before = text[max(0, number.start - FAR) : number.start]
    if quantity.name in ("steps", "epochs", "tokens"):
        return bool(_WHOLE_LENGTH.search(before))
    return quantity.name != "seconds" or bool(_TOOK.search(text))


def _is_guessing(text: str, number: Number) -> bool:
    """Say whether guessing is named between the last name and a number, or right after it."""
    before, after = text[max(0, number.start - FAR) : number.start], text[number.end :]
    last = before[max(before.rfind("¤"), before.rfind(";")) + 1 :]
    near = re.match(rf"[\s(]*(?:for|by|from|of)?\s*(?:the\s+)?{_GUESSING.pattern}", after, re.I)
    earlier = [one.end for one in numbers_in(last)]
    words = [match.start() for match in _GUESSING.finditer(last)]
    return bool(near) or bool(words and words[-1] >= max(earlier, default=0))


def _split_of_rows(text: str, number: Number) -> str:
    """Return the split whose rows are counted, as in "trained on 6,920 sentences"."""
    before, after = text[: number.start], text[number.end :]
    if re.search(r"\btrain\w*\s+(?:on|with|from)\s+(?:the\s+|all\s+)?$", before, re.I):
        return "train"
    near = splits_in(before[-30:])[-1:] or splits_in(after[:30])[:1]
    return near[0][2] if near else ("train" if re.match(r"\s*training\b", after) else "")
