"""Words that compare: what is said to be better, lower, equal or best, and of which names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from attnlab.evaluation.claims.attribution import Span
from attnlab.evaluation.claims.citations import NAME
from attnlab.evaluation.claims.clauses import clauses_of
from attnlab.evaluation.claims.numbers import Number, numbers_in
from attnlab.evaluation.claims.quantities import PARAMETERS, SECONDS, Quantity, nearest_quantity

Said = Literal[
    "better", "worse", "higher", "lower", "equal", "different", "best", "highest", "lowest"
]

_SCORE = r"(?:accurac\w+|perplexit\w+|ppl|loss(?:es)?|bits per character|bpc|f1|scores?|results?)"
_OF_SCORE = rf"(?:the\s+)?(?:[\w-]+\s+){{0,2}}{_SCORE}"
_OF_MODEL = r"(?:[\w-]+\s+){0,1}param\w+"
_WITHIN = r"[^;]{0,60}?"
_THAN = r"(?=[^;]*\bthan\b)"
_PATTERNS: dict[Said, Sequence[str]] = {
    "different": (
        rf"difference\b{_WITHIN}\bis\s+(?:statistically\s+)?significant",
        *(r"significantly\s+different", r"significant\s+difference", r"differ\w*\s+significantly"),
    ),
    "equal": (
        rf"difference\b{_WITHIN}\bis\s+not\s+(?:statistically\s+)?significant",
        r"(?:no|without an?y?)\s+(?:\w+\s+)?difference",
        *(r"indistinguishable", r"not\s+(?:be\s+)?distinguish\w+", r"on\s+par"),
        *(
            r"(?:do|does|did)\s+not\s+(?:significantly\s+)?differ",
            r"not\s+(?:significantly\s+)?different",
        ),
        rf"(?:same|equal|identical|similar|comparable)\s+{_OF_SCORE}",
        *(r"equally\s+(?:good|well|accurate)", r"perform\w*\s+(?:equally|the\s+same|identically)"),
        *(r"as\s+(?:good|accurate|well)\s+as", r"(?:is|are)\s+(?:equal|identical)"),
    ),
    "highest": (rf"highest\s+{_OF_SCORE}",),
    "lowest": (rf"lowest\s+{_OF_SCORE}",),
    "best": (
        r"(?<!at )(?:the|is|are|was|were|perform\w*|works?|worked|does)\s+best\b"
        r"(?!\s+(?:epoch|step|checkpoint|weights|learning|hyper|setting|practice))",
        rf"(?<!its )(?<!their )best\s+{_OF_SCORE}",
        r"our\s+best\s+(?:model|run|variant|method|system|classifier)\b",
    ),
    "better": (
        *(r"better(?!\s+(?:understand|suited|known|to\b))", r"outperform\w*", r"beats?\b"),
        *(r"surpass\w*", r"superior", r"more\s+accurate", r"improv\w+\s+(?:on|upon|over)\b"),
        rf"exceed(?:s|ed)?\b(?=[^;\d]{{0,60}}{NAME})",  # a name: "exceeds 90 %" is a bound
        rf"(?:gains?|improve[sd]?)\b(?={_WITHIN}\bover\b)",
        *(rf"improve\w*\s+{_OF_SCORE}", r"wins?\s+(?:against|over)"),
    ),
    "worse": (
        *(r"worse", r"underperform\w*", r"inferior", r"loses?\s+to", r"lags?\s+behind"),
        r"less\s+accurate",
    ),
    "higher": (
        *(rf"(?:higher|greater|larger)\s+{_OF_SCORE}", rf"(?:higher|greater|larger)\b{_THAN}"),
        *(rf"(?:increase|raise)[sd]?\s+{_OF_SCORE}", rf"more\s+{_OF_MODEL}", r"slower\b"),
    ),
    "lower": (
        *(rf"(?:lower|smaller)\s+{_OF_SCORE}", rf"(?:lower|smaller)\b{_THAN}"),
        *(rf"(?:reduce|decrease|lower)[sd]?\s+{_OF_SCORE}", rf"(?:fewer|less)\s+{_OF_MODEL}"),
        r"faster\b",
    ),
}
_ANY = re.compile(
    "|".join(rf"(?P<{said}>\b(?:{'|'.join(some)}))" for said, some in _PATTERNS.items()), re.I
)
_RULE = re.compile(r"\b(?:lower|higher|less|more|smaller|larger)\s+is\s+better\b", re.I)
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|neither|cannot|fails?\s+to|nor)|n't)\W+(?:[\w-]+\W+){0,2}$", re.I
)
_SIGNIFICANT = re.compile(r"\bsignifican|\breliabl|\bconsistently", re.I)
_OBJECT = re.compile(
    r"\b(?:than|over|against|versus|vs\.?|unlike|behind|beats?|from|as(?:\s+\w+)?\s+as"
    r"|(?:compared|relative|similar|equal|identical|comparable)\s+(?:with|to))"
    r"\s+(?:(?:with|for|in|of|that|those|the|run|runs|model)\s+){0,3}[\"'(]*$",
    re.I,
)
_GOES_ON = re.compile(r"[\s\"'(),]*(?:and|or|nor)?[\s\"'(]*(?:than\s+)?")
_GUESSING = re.compile(r"\b(?:majority|baseline|guess\w*|chance|always \w+)\b", re.I)
_WITH_SOMETHING = re.compile(r"\s+(?:[\w-]+\s+){0,2}(?:than|over|against)\b", re.I)
_BY = re.compile(r"\bby\s+(?:about|only|some|around)?\s*$", re.I)
_POINTS = re.compile(
    r"\s*(?:(?:percentage\s+)?points?|pp|better|worse|higher|lower|more|less)\b", re.I
)
_P = re.compile(r"\bp\s*[=<>≤≥]\s*$")


@dataclass(frozen=True)
class Comparative:
    """A comparison that a clause makes."""

    said: Said
    start: int
    end: int
    subjects: tuple[int, ...] = ()
    """Indices of the names that are compared; none if the clause names none."""
    objects: tuple[int, ...] = ()
    """Indices of the names that they are compared with."""
    quantity: Quantity | None = None
    """By what; None for the runs' own metric."""
    is_negated: bool = False
    is_significant: bool = False
    with_guessing: bool = False
    difference: Number | None = None
    """By how much, as in "by 3.2 points"."""
    p_value: Number | None = None


def comparatives_in(text: str, names: Sequence[Span]) -> Iterator[Comparative]:
    """Find what a sentence compares."""
    text = _RULE.sub(lambda match: " " * len(match[0]), text)
    for begin, end in clauses_of(text):
        yield from _in_clause(text, begin, end, names)


def _in_clause(text: str, begin: int, end: int, names: Sequence[Span]) -> Iterator[Comparative]:
    inside = [i for i, name in enumerate(names) if begin <= name.start < end]
    numbers = [number for number in numbers_in(text[:end]) if number.start >= begin]
    for match in _ANY.finditer(text, begin, end):
        said = cast(Said, match.lastgroup)
        subjects, objects = _sides(text, match.start(), inside, names)
        before, after = text[begin : match.start()], text[match.end() : end]
        around = f"{before[-30:]}{match[0]}{after[:30]}"
        with_guessing = not objects and bool(_GUESSING.search(after))
        if not objects and not with_guessing and _WITH_SOMETHING.search(after):
            continue  # "better than a coin", "than expected"
        yield Comparative(
            said,
            match.start(),
            match.end(),
            tuple(subjects),
            tuple(objects),
            _quantity(text[begin:end], match.start() - begin, match[0]),
            is_negated=said not in ("equal", "different") and bool(_NEGATED.search(before)),
            is_significant=bool(_SIGNIFICANT.search(around)),
            with_guessing=with_guessing,
            difference=next((one for one in numbers if _is_difference(text, one)), None),
            p_value=next((one for one in numbers if _P.search(text[: one.start])), None),
        )


def _is_difference(text: str, number: Number) -> bool:
    return bool(_BY.search(text[: number.start]) or _POINTS.match(text[number.end :]))


def _sides(
    text: str, place: int, inside: Sequence[int], names: Sequence[Span]
) -> tuple[list[int], list[int]]:
    """Tell what is compared from what it is compared with."""
    objects: list[int] = []
    for i in inside:
        goes_on = objects and objects[-1] == i - 1 and names[i].start > place
        between = text[names[i - 1].end : names[i].start] if goes_on else "-"
        if _OBJECT.search(text[: names[i].start]) or _GOES_ON.fullmatch(between):
            objects.append(i)
    if not objects:
        objects = [i for i in inside if names[i].start > place]
        if len(objects) == len(inside):  # "the best is `a`", "there is a lower loss with `a`"
            return objects, []
    return [i for i in inside if i not in objects], objects


def _quantity(clause: str, place: int, word: str) -> Quantity | None:
    if re.fullmatch(r"faster|slower", word, re.I):
        return SECONDS
    if re.search(r"param", word, re.I):
        return PARAMETERS
    found = nearest_quantity(clause.replace(NAME, " "), place)
    return found if found and found.kind == "score" else None
