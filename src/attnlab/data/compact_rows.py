"""Rows of tokens in one array: a row becomes a ``TokenRow`` only when it is asked for.

A list of Python numbers takes about 40 bytes per token, the array two or four: 30 M tokens are
60 MB instead of more than a gigabyte.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from attnlab.data.batches import TokenRow


class CompactRows(Sequence[TokenRow]):
    """Rows that are scored on every token but the first."""

    def __init__(self, rows: Iterable[Sequence[int]], *, vocab_size: int, title: str) -> None:
        """Take rows one by one; row number n is called ``title n``, counted from 1."""
        self._tokens = array("H" if vocab_size <= 2**16 else "I")
        ends = array("Q", [0])
        for row in rows:
            self._tokens.extend(row)
            ends.append(len(self._tokens))
        self._ends: NDArray[np.int64] = np.asarray(ends, dtype=np.int64)
        self._title = title

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The tokens that a model reads of each row: all but the last."""
        return np.diff(self._ends) - 1

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: SupportsIndex) -> TokenRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TokenRow]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> TokenRow | list[TokenRow]:
        """Make a row."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        begin, end = self._ends[number : number + 2]
        return TokenRow(f"{self._title} {number + 1}", self._tokens[begin:end].tolist())
