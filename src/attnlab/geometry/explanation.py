"""What is known about one question: words to read, numbers to use, panels to draw.

Every question of ``geometry/explain/`` returns an ``Explanation``. It is shown by one renderer each
in ``report/geometry/``: on a terminal, as JSON, and as a figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from attnlab.geometry.panels import Panel

Verdict = Literal[
    "exact", "limit", "never", "found", "undecided", "possible", "impossible", "right", "wrong"
]
Cell = str | float | np.ndarray
"""Numbers and vectors are rounded by who shows them."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of cells; without columns there is no header."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, eq=False)
class Explanation:
    """A question, its verdict, and why."""

    question: str
    verdict: Verdict | None = None
    detail: str = ""
    """What belongs to the verdict, such as the error."""
    parts: "Sequence[Part]" = ()
    """What there is to read, in this order."""
    data: Any = None
    """The results with all their digits: a dataclass, or several by name."""
    panels: Sequence[Panel] = ()
    """What there is to draw, from left to right."""
    answer: "Explanation | None" = None
    """What a proposed answer is worth, if there is one."""
    is_users: bool = False
    """Whether it judges something that the user proposed."""
    hides_solution: bool = False
    """Whether the solution is left out, since the user checks an answer."""

    @property
    def is_wrong(self) -> bool:
        """Whether the user proposed something wrong."""
        if self.answer is not None:
            return self.answer.is_wrong
        return self.is_users and self.verdict == "wrong"


Part = str | Mapping[str, str] | Table | Explanation
"""A sentence, facts by name, a table, or a question on the way."""
