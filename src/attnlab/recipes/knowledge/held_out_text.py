"""The held-out end of a running text: what a model loses on it, and what that is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.data.batches import TokenRow
from attnlab.data.held_out_text import characters_of_rows, held_out_rows
from attnlab.data.tokenizer import Tokenizer
from attnlab.evaluation.held_out_text import (
    perplexity_of_frequencies,
    repeated_lines,
    score_text,
    text_metrics,
)
from attnlab.evaluation.metrics.perplexity import PERPLEXITY
from attnlab.models.next_token import row_losses
from attnlab.recipes.knowledge.language_model import LanguageModel

READ_AT_ONCE = 64


@dataclass(frozen=True)
class HeldOutText:
    """The held-out end of a text, in windows; without any, nothing is measured."""

    rows: Sequence[TokenRow] = ()
    characters: Sequence[int] = ()
    """Of every window, as many as begin in what it predicts."""
    text: str = ""

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, *, block: int) -> "HeldOutText":
        """Cut the windows."""
        if not text:
            return cls()
        rows = held_out_rows(text, tokenizer, block=block)
        return cls(rows, characters_of_rows(rows, tokenizer), text)

    def predictions(self, lm: LanguageModel) -> list[dict[str, Any]]:
        """Return every window with the model's loss on it."""
        losses = [
            loss
            for begin in range(0, len(self.rows), READ_AT_ONCE)
            for loss in row_losses(lm.model, self.rows[begin : begin + READ_AT_ONCE])
        ]
        return [
            {
                "id": row.id,
                "input": lm.tokenizer.decode(row.tokens),
                "loss": loss,
                "tokens": len(row.tokens) - 1,
                "characters": characters,
            }
            for row, loss, characters in zip(self.rows, losses, self.characters, strict=True)
        ]

    def metrics(self, lm: LanguageModel) -> dict[str, float]:
        """Return what is logged while training."""
        if not self.rows:
            return {}
        rows = self.predictions(lm)
        return {"perplexity": PERPLEXITY.score(rows), **text_metrics(rows)}

    def score(
        self,
        predictions: Sequence[dict[str, Any]],
        learned: Sequence[TokenRow],
        *,
        lines: Sequence[str],
        vocab_size: int,
    ) -> dict[str, Any]:
        """Score the predictions; the baseline knows only how often each token was trained on.

        ``lines`` are those of the text that was learned from.
        """
        guessing = perplexity_of_frequencies(
            (row.tokens for row in learned),
            (row.tokens for row in self.rows),
            vocab_size=vocab_size,
        )
        repeats = repeated_lines(lines, self.text.split("\n"))
        return score_text(predictions, guessing=guessing, repeats=repeats)
