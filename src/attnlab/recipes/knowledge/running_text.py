"""Running text instead of entries: noticed before training, its end held out for perplexity."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.data.batches import TokenRow
from attnlab.data.entries import has_entries
from attnlab.data.held_out_text import held_out_rows, hold_out_end
from attnlab.data.knowledge_files import read_corpus, read_running_text
from attnlab.data.tokenizer import Tokenizer
from attnlab.errors import UserError
from attnlab.evaluation.held_out_text import (
    perplexity_of_frequencies,
    score_text,
    text_metrics,
)
from attnlab.evaluation.intervals import percent
from attnlab.evaluation.metrics.perplexity import PERPLEXITY
from attnlab.models.next_token import row_losses
from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.settings import AUTO, ObjectiveSettings, PretrainSettings
from attnlab.recipes.knowledge.texts import KnowledgeTexts
from attnlab.runs.directory import Run
from attnlab.training.session import Session

ENTRIES, RUNNING_TEXT = "salient_spans", "running_text"
"""What ``auto`` comes to for a corpus of lines ``Name. Text``, and for any other."""
OBJECTIVE = "objective"
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
        """Score the predictions beside what the frequencies of the learned tokens give."""
        guessing = perplexity_of_frequencies(
            (row.tokens for row in learned),
            (row.tokens for row in self.rows),
            vocab_size=vocab_size,
        )
        return score_text(predictions, characters=self.characters, guessing=guessing)


def choose_objective(settings: PretrainSettings, session: Session) -> ObjectiveSettings:
    """Settle ``auto`` by the corpus, once in the life of a run; announce plain text."""
    chosen, path = settings.objective, Path(settings.corpus)

    def decide() -> str:
        if chosen.name != AUTO:
            return chosen.name
        return ENTRIES if has_entries(read_corpus(path)) else RUNNING_TEXT

    name = session.resolve_once(OBJECTIVE, decide)
    if name == RUNNING_TEXT:
        session.say(_notice(path, settings.text_held_out))
    return replace(chosen, name=name)


def _notice(path: Path, share: float) -> str:
    """Say in a line what plain text is trained on and measured on."""
    seen = ":" if has_entries(read_corpus(path)) else " has no lines that begin with a name:"
    held_out = f"the last {percent(share)} is" if share else "nothing is"
    return f"{path.name}{seen} training on plain text; {held_out} held out for perplexity."


def with_running_text(texts: KnowledgeTexts, settings: PretrainSettings) -> KnowledgeTexts:
    """Take the corpus as one text, without its end."""
    learned, held_out = _parts(Path(settings.corpus), settings.text_held_out)
    return replace(texts, corpus=learned, held_out_text=held_out)


def running_text_read_by(run: Run, path: Path) -> list[str] | None:
    """Return the text that a run has learned from; None if it read a corpus of entries."""
    if run.config["resolved"].get(OBJECTIVE) != RUNNING_TEXT:
        return None
    return _parts(path, float(run.config["settings"]["text_held_out"]))[0]


def _parts(path: Path, share: float) -> tuple[list[str], str]:
    """Return the lines to learn from, and the held-out end."""
    learned, held_out = hold_out_end(read_running_text(path), share)
    if not learned.strip() or (share and not held_out.strip()):
        raise UserError(
            f"{path} is too short: text_held_out = {share} leaves no text to"
            f" {'measure on' if learned.strip() else 'learn from'}. Give a longer text, or"
            " text_held_out=0 to hold nothing out."
        )
    return learned.split("\n"), held_out


def _with_losses(lm: LanguageModel, rows: Sequence[TokenRow]) -> Sequence[tuple[TokenRow, float]]:
    return list(zip(rows, row_losses(lm.model, rows), strict=True))
