"""Language modelling over running text: windows of one long text, whatever its lines are.

Every epoch cuts other windows. They are spread evenly over the text and begin at a random phase, so
that an epoch reads nearly every token once, and each token at another position than before.
"""

from collections.abc import Collection, Sequence
from typing import Annotated

import numpy as np
from annotated_types import Ge

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
        answers: Collection[str] = (),
        *,
        block: Annotated[int, Ge(2)] = 128,
    ) -> None:
        del answers
        self._tokens = tokenizer.encode("\n".join(corpus))
        if len(self._tokens) < 2:
            raise UserError("the text is too short to learn from: it is a single token.")
        self.longest = min(block, len(self._tokens) - 1)

    def rows(self, generator: np.random.Generator) -> list[TokenRow]:
        """Cut the windows of an epoch."""
        n_predicted = len(self._tokens) - 1
        n_windows = -(-n_predicted // self.longest)
        n_places = n_predicted - self.longest + 1
        phases = (np.arange(n_windows) + generator.random()) / n_windows
        starts = (phases * n_places).astype(np.int64).tolist()
        size = self.longest + 1  # a model reads all but the last
        return [TokenRow(f"from token {at}", self._tokens[at : at + size]) for at in starts]
