"""The held-out end of a running text: what a model loses on it, and what that is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.data.batches import TokenRow
from attnlab.data.held_out_text import held_out_rows
from attnlab.data.tokenizer import Tokenizer
from attnlab.evaluation.held_out_text import perplexity_of_frequencies, score_text, text_metrics
from attnlab.evaluation.metrics.perplexity import PERPLEXITY
from attnlab.models.next_token import row_losses
from attnlab.recipes.knowledge.language_model import LanguageModel

READ_AT_ONCE = 64


@dataclass(frozen=True)
class HeldOutText:
    """The held-out end of a text, in windows; without any, nothing is measured."""

    rows: Sequence[TokenRow] = ()
    characters: int = 0

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, *, block: int) -> "HeldOutText":
        """Cut the windows."""
        return cls(held_out_rows(text, tokenizer, block=block), len(text)) if text else cls()

    def predictions(self, lm: LanguageModel) -> list[dict[str, Any]]:
        """Return every window with the model's loss on it."""
        return [
            {
                "id": row.id,
                "input": lm.tokenizer.decode(row.tokens),
                "loss": loss,
                "tokens": len(row.tokens) - 1,
            }
            for begin in range(0, len(self.rows), READ_AT_ONCE)
            for row, loss in _with_losses(lm, self.rows[begin : begin + READ_AT_ONCE])
        ]

    def metrics(self, lm: LanguageModel) -> dict[str, float]:
        """Return what is logged while training."""
        if not self.rows:
            return {}
        rows = self.predictions(lm)
        found = text_metrics(rows, characters=self.characters)
        return {"perplexity": PERPLEXITY.score(rows), **found}

    def score(
        self, predictions: Sequence[dict[str, Any]], learned: Sequence[TokenRow], vocab_size: int
    ) -> dict[str, Any]:
        """Score the predictions; the baseline knows only how often each token was trained on."""
        guessing = perplexity_of_frequencies(
            (row.tokens for row in learned),
            (row.tokens for row in self.rows),
            vocab_size=vocab_size,
        )
        return score_text(predictions, characters=self.characters, guessing=guessing)


def _with_losses(lm: LanguageModel, rows: Sequence[TokenRow]) -> Sequence[tuple[TokenRow, float]]:
    return list(zip(rows, row_losses(lm.model, rows), strict=True))
