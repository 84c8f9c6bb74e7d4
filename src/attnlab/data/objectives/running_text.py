"""Language modelling over running text: windows of one long text, whatever its lines are.

Every epoch cuts the text elsewhere, so that each token is read at another position than before. One
window follows the other; the first and the last are moved inwards to the ends of the text, which
are therefore read twice, and nothing is left out.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Interval

from attnlab.data.batches import TokenRow
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.tokenizer import Tokenizer
from attnlab.errors import UserError


@OBJECTIVES.register("running_text")
class RunningText:
    """Windows of the lines joined to one text; every token but a window's first is predicted."""

    def __init__(
        self,
        corpus: Sequence[str],
        tokenizer: Tokenizer,
        preference: object = None,
        *,
        block: Annotated[int, Interval(ge=2, le=65_536)] = 128,
    ) -> None:
        del preference
        self._tokens = tokenizer.encode("\n".join(corpus))
        if len(self._tokens) < 2:
            raise UserError("the text is too short to learn from: it is a single token.")
        self.longest = min(block, len(self._tokens) - 1)

    def rows(self, generator: np.random.Generator) -> list[TokenRow]:
        """Cut the windows of an epoch."""
        block, last = self.longest, len(self._tokens) - 1 - self.longest
        n_windows = -(-last // block) + (2 if last else 1)  # the same in every epoch
        phase = int(generator.integers(block)) + 1 - block
        starts = np.clip(phase + block * np.arange(n_windows), 0, last).tolist()
        size = block + 1  # a model reads all but the last
        return [TokenRow(f"from token {at}", self._tokens[at : at + size]) for at in starts]
