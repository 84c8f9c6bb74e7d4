"""Plain language modelling: predict every token of a line from those before it."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Interval

from attnlab.data.batches import TokenRow
from attnlab.data.compact_rows import CompactRows
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.tokenizer import Tokenizer


@OBJECTIVES.register("text")
class Text:
    """Lines as they are, each with the sentinel at its end."""

    def __init__(
        self,
        corpus: Sequence[str],
        tokenizer: Tokenizer,
        preference: object = None,
        *,
        block: Annotated[int, Interval(ge=2, le=65_536)] = 128,
    ) -> None:
        del preference
        self._rows = CompactRows(
            ([*tokenizer.encode(line), tokenizer.sentinel][:block] for line in corpus),
            vocab_size=len(tokenizer),
            title="document",
        )
        self.longest = int(self._rows.lengths.max()) + 1

    def rows(self, generator: np.random.Generator) -> Sequence[TokenRow]:
        """Return every line; there is nothing to draw."""
        del generator
        return self._rows
