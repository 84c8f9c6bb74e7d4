"""What a report says about a job's runs, one file per kind of section."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attnlab.report.document import Block
from attnlab.runs.directory import Run


@dataclass(frozen=True)
class Section:
    """A kind of section; the table of jobs says which one a job has."""

    summary: Callable[[Sequence[Run]], Iterator[Block]]
    """The results; also shown on a terminal, without the figures."""
    details: Callable[[Sequence[Run]], Iterator[Block]]
    """How the runs got there, with examples."""
    lists_settings: bool = True
    """Whether a page ends with how every run was made; of many runs that would be most of it."""
