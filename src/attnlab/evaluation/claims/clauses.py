"""Clauses of a sentence; one that only supposes, asks or hopes claims nothing."""

import re
from collections.abc import Iterator

from attnlab.evaluation.claims.attribution import Span

_CLAUSES = re.compile(
    r";|(?<!\s),?\s+\b(?:but|while|whereas|although|though)\b|,\s+and\b(?=[^,;]*\b(?:is|has|are)\b)",
    re.I,
)
_CONCEDED = re.compile(r"\W*(?:while|whereas|although|though)\b(?:[^,;]|,(?=\S))*,(?=\s)", re.I)
"""What stands before the main clause: "While `a` reaches 84 %, …"."""
_SUPPOSED = re.compile(
    r"\b(?:would|could|should|might|may|perhaps|whether|if|unless|expect\w*|hypothes\w*|suspect\w*"
    r"|hope\w*|predicts?|guess(?:ed)? that)\b|\?",
    re.I,
)


def clauses_of(text: str) -> Iterator[Span]:
    """Cut a sentence into its clauses."""
    begin = 0
    if conceded := _CONCEDED.match(text):
        begin = conceded.end()
        yield Span(0, begin)
    for match in [*_CLAUSES.finditer(text, begin), None]:
        end = match.start() if match else len(text)
        yield Span(begin, end)
        begin = end


def claiming(text: str) -> str:
    """Blank the clauses of a sentence that claim nothing."""
    for start, end in clauses_of(text):
        if _SUPPOSED.search(text[start:end]):
            text = text[:start] + " " * (end - start) + text[end:]
    return text
