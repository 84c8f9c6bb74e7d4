"""A text in windows with some characters masked, to learn from and, at its end, to measure on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.data.batches import IGNORED
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.data.held_out_text import held_out_rows
from attnlab.data.masking import mask_tokens
from attnlab.data.objectives.running_text import RunningText
from attnlab.data.text_batches import TextRow
from attnlab.data.tokenizer import Tokenizer
from attnlab.evaluation.held_out_text import (
    SPLIT,
    perplexity_of_frequencies,
    repeated_lines,
    score_text,
    text_metrics,
)
from attnlab.evaluation.metrics.perplexity import PERPLEXITY
from attnlab.models.bert import BertForMaskedLanguageModel
from attnlab.models.fill_in import row_losses
from attnlab.randomness import rng
from attnlab.recipes.attention.settings import FillInSettings
from attnlab.recipes.knowledge.running_text import running_text_parts
from attnlab.recipes.knowledge.texts import characters_of
from attnlab.training.task import Evaluation

PAD_ID = 0


@dataclass(frozen=True)
class MaskedText:
    """A text in windows, of which some characters are masked; its end is held out."""

    settings: FillInSettings
    tokenizer: Tokenizer
    learned: Sequence[str]
    held_out: str
    rows: Sequence[TextRow]
    """Windows of the held-out end, always with the same characters masked."""

    @classmethod
    def of(cls, settings: FillInSettings) -> "MaskedText":
        """Read the text."""
        learned, held_out = running_text_parts(Path(settings.corpus), settings.text_held_out)
        tokenizer = characters_of([*learned, held_out])
        found = cls(settings, tokenizer, learned, held_out, ())
        windows = held_out_rows(held_out, tokenizer, block=settings.block)
        rows = [_text_row(row.id, row.tokens[1:]) for row in windows]
        masked = found.mask(rows, seed=0, purpose="held-out masks", index=0)
        return replace(found, rows=[row for row in masked if _n_masked(row)])

    def stream(self) -> Epochs[TextRow]:
        """Return what is learned from, by step: windows that every epoch cuts elsewhere."""
        text, seed = (
            RunningText(self.learned, self.tokenizer, block=self.settings.block),
            self._seed,
        )

        def rows_of(epoch: int) -> list[TextRow]:
            windows = text.rows(rng(seed, "objective", epoch))
            return [_text_row(row.id, row.tokens[:-1]) for row in windows]

        def prepare(drawn: list[TextRow], step: int) -> list[TextRow]:
            return self.mask(drawn, seed=seed, purpose="masking", index=step)

        size = tokens_per_batch(self.settings.batch_tokens)
        return Epochs(rows_of, size=size, seed=seed, prepare=prepare)

    def mask(
        self, rows: Sequence[TextRow], *, seed: int, purpose: str, index: int
    ) -> list[TextRow]:
        """Mask some characters of each row, as BERT does."""
        hidden = mask_tokens(
            [row.tokens for row in rows],
            rng(seed, purpose, index),
            share=self.settings.share,
            mask_id=self.tokenizer.sentinel,
            vocab_size=len(self.tokenizer),
            special_ids=[PAD_ID, self.tokenizer.sentinel],
        )
        return [
            replace(row, tokens=tokens, targets=targets)
            for row, tokens, targets in zip(rows, *hidden, strict=True)
        ]

    def predictions(self, model: BertForMaskedLanguageModel) -> list[dict[str, Any]]:
        """Return every held-out window with the loss on its masked characters."""
        losses = row_losses(model, self.rows)
        return [
            {
                "id": row.id,
                "input": self.tokenizer.decode(row.tokens),
                "loss": loss,
                "tokens": _n_masked(row),
                "characters": _n_masked(row),
            }
            for row, loss in zip(self.rows, losses, strict=True)
        ]

    def evaluation(self, model: BertForMaskedLanguageModel) -> Evaluation:
        """Measure on the way; it chooses nothing."""
        rows = self.predictions(model)
        found = {"perplexity": PERPLEXITY.score(rows), **text_metrics(rows)}
        return Evaluation(None, {f"{SPLIT}_{name}": value for name, value in found.items()})

    def score(self, predictions: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Score the predictions; guessing is to know how often each character occurs."""
        answers = [[PAD_ID, *(t for t in row.targets if t != IGNORED)] for row in self.rows]
        read = [self.tokenizer.encode("\n".join(self.learned))]
        guessing = perplexity_of_frequencies(read, answers, vocab_size=len(self.tokenizer))
        repeats = repeated_lines(self.learned, self.held_out.split("\n"))
        return score_text(predictions, guessing=guessing, repeats=repeats)

    @property
    def _seed(self) -> int:
        return self.settings.training.seed


def _text_row(id: str, tokens: Sequence[int]) -> TextRow:
    return TextRow(id, list(tokens), [0] * len(tokens), [])


def _n_masked(row: TextRow) -> int:
    return sum(target != IGNORED for target in row.targets)
