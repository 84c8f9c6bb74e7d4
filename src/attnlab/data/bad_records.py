"""Records that cannot be used: one message shows all of a file, each with line and reason."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from attnlab.errors import UserError

MOST_LISTED = 10


class BadRecordError(UserError):
    """A record that cannot be used, whatever the others are."""

    def __init__(self, place: str, reason: str, rest: str) -> None:
        super().__init__(f"{place}: {reason}{rest}")
        self.line, self.reason = line_in(place), reason


class BadRecords:
    """Collects the bad records of a file, so that one message shows them all."""

    def __init__(self) -> None:
        self._found: list[BadRecordError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the error of one record for later, and go on with the next."""
        try:
            yield
        except BadRecordError as error:
            self._found.append(error)

    def refuse(self, n_records: int) -> None:
        """Refuse the file if a record was bad: the first in full, the others by their reason."""
        if not self._found:
            return
        first, *others = self._found
        if not others:
            raise first
        raise UserError(
            f"{first}\n{len(others):,} more of {n_records:,} records cannot be used:"
            f" {_listed(others)}."
        )


def _listed(errors: Sequence[BadRecordError]) -> str:
    shown = [f"{error.line} ({error.reason})" for error in errors[:MOST_LISTED]]
    more = len(errors) - MOST_LISTED
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def line_in(place: str) -> str:
    """Return the ``line 12`` of ``train.csv, line 12``, where the file is named already."""
    return place.rpartition(", ")[2]
