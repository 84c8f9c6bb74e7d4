"""Which of several names in a sentence each of its numbers belongs to."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from attnlab.evaluation.claims.citations import NAME


class Span(NamedTuple):
    """A place in a text."""

    start: int
    end: int


_BELONGS = re.compile(
    rf"\W*(?:(?:dev|test|validation|held-out|train(?:ing)?|accuracy|perplexity|loss|F1|score)\W+){{0,2}}"
    rf"(?:for|of|with|by|from|on|in|using|achieved by|reached by)\s+(?:the\s+)?[\"'`({NAME}\s]*",
    re.I,
)
_IN_BRACKETS = re.compile(r"\s*\(\s*")
_CLOSED = re.compile(r"\s*[),]")


def attributed(text: str, numbers: Sequence[Span], names: Sequence[Span]) -> list[int | None]:
    """Return the name that each number belongs to, by its index; None where that is not clear.

    "`a` and `b` reach 84 % and 82 %" goes in order, "84 % for `a`" and "84 % (`a`)" by the name
    that follows, any other by the name before. Where there are more names than numbers, as in "`a`,
    a copy of `b`, reaches 84 %", it must be the only name before.
    """
    if len(names) < 2:
        return [0 if names else None] * len(numbers)
    if len(numbers) == len(names) and numbers[0].start > names[-1].end:
        return list(range(len(names)))
    return [
        _following(text, number, names)
        if _following(text, number, names) is not None
        else _before(number, names, is_clear=len(numbers) >= len(names))
        for number in numbers
    ]


def _following(text: str, number: Span, names: Sequence[Span]) -> int | None:
    for index, name in enumerate(names):
        if name.start < number.end:
            continue
        between = text[number.end : name.start]
        is_alone = _IN_BRACKETS.fullmatch(between) and _CLOSED.match(text, name.end)
        if is_alone or _BELONGS.fullmatch(between):
            return index
    return None


def _before(number: Span, names: Sequence[Span], *, is_clear: bool) -> int | None:
    """Return the last name before a number; of a sentence that begins with it, the first after."""
    earlier = [index for index, name in enumerate(names) if name.end <= number.start]
    if len(earlier) == 1 or (earlier and is_clear):
        return earlier[-1]
    return 0 if is_clear else None
