"""Numbers as people write them: 84.5 %, .845, 66,955,010, 1.2M, about 85, at least 0.9."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Bound = Literal["", "about", "least", "most"]

_NUMBER = re.compile(
    r"(?<![\w.,^/@-])(?P<sign>[-+−]?)"
    r"(?P<digits>\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,20})?|\d{1,20}(?:\.\d{1,20})?|\.\d{1,20})(?P<power>[eE][-+−]?\d{1,2})?"
    r"(?:\s?(?P<scale>k|K|M|B|thousand|million|billion)\b)?"
    r"(?P<percent>\s?(?:%|percent\b|per cent\b))?"
    r"(?!(?!(?:s|min|h|pp)\b)[\w@]|[.,]\d|-\w|/\d)"
)
_SCALES = {"k": 3, "K": 3, "thousand": 3, "M": 6, "million": 6, "B": 9, "billion": 9}
_BOUNDS: dict[Bound, str] = {
    "about": r"about|around|roughly|nearly|almost|approximately|approx\.?|circa|ca\.|~|≈|∼",
    "least": r"at least|more than|over|above|exceeds|exceeding|beyond|≥|>",
    "most": r"at most|less than|fewer than|below|under|up to|≤|<",
}
_BEFORE = {bound: re.compile(rf"(?:{words})\s*$", re.I) for bound, words in _BOUNDS.items()}
_WORDS = "one two three four five six seven eight nine ten".split()
_COUNTED = re.compile(rf"\b({'|'.join(_WORDS)})(?=\s+(?:random\s+|different\s+)?seeds\b)", re.I)
FAR = 20
"""Characters before a number in which its bound stands."""
NEAR = 0.05
"""How far off, as a share of it, a number may be that is given as about so much."""


@dataclass(frozen=True)
class Number:
    """A number in a text."""

    start: int
    end: int
    value: float
    step: float
    """What its last digit counts in."""
    in_percent: bool = False
    is_whole: bool = False
    """Whether it is written without a point or power."""
    bound: Bound = ""

    def fits(self, value: float, *, scale: float = 1.0) -> bool:
        """Say whether a value, times ``scale``, is what is written, as far as it is written."""
        exact, written = value * scale, self.value
        slack = 1e-9 * max(abs(exact), abs(written))
        if self.bound == "least":
            return exact >= written - slack
        if self.bound == "most":
            return exact <= written + slack
        apart = max(self.step / 2, NEAR * abs(written) if self.bound == "about" else 0.0)
        return abs(exact - written) <= apart + slack


def numbers_in(text: str) -> Iterator[Number]:
    """Give every number that is not part of a word, a date, a version or a path; and two seeds."""
    for match in _NUMBER.finditer(text):
        digits = Decimal(
            match["sign"].replace("−", "-")
            + match["digits"].replace(",", "")
            + (match["power"] or "").replace("−", "-")
        )
        exponent = digits.as_tuple().exponent
        assert isinstance(exponent, int), "a number that is written with digits is finite"
        power = _SCALES.get(match["scale"] or "", 0)
        yield Number(
            match.start(),
            match.end(),
            value=float(digits.scaleb(power)),
            step=10.0 ** (exponent + power),
            in_percent=bool(match["percent"]),
            is_whole=digits == digits.to_integral() and "." not in match["digits"],
            bound=_bound(text[max(0, match.start() - FAR) : match.start()]),
        )
    for match in _COUNTED.finditer(text):
        count = _WORDS.index(match[0].lower()) + 1
        yield Number(match.start(), match.end(), count, step=1.0, is_whole=True)


def _bound(before: str) -> Bound:
    return next((bound for bound, pattern in _BEFORE.items() if pattern.search(before)), "")
