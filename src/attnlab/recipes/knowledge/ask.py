"""Asks one question: the answer, its confidence, and whether to believe it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float

from attnlab.data.entries import has_entries
from attnlab.data.knowledge_files import Question
from attnlab.data.tokenizer import PAD, SENTINEL
from attnlab.errors import UserError
from attnlab.evaluation.calibration import Answer, column, right
from attnlab.evaluation.confidence import Thresholds, Verdict, choose_thresholds
from attnlab.evaluation.intervals import percent
from attnlab.recipes.knowledge.calibration import agreement, named_in, names_of
from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.saved import open_saved
from attnlab.recipes.opening import computing_like
from attnlab.training.inference import inference

RUNNERS_UP = 3
NO_ONE_HELD_OUT = (
    "no training people were held out, so its confidence cannot be judged; pretrain with"
    " --held-out 0.1"
)
NAMES_ARE_LOST = (
    "it would be made up if the model has read nothing about a person of that name; give the"
    " unchanged corpus with --corpus"
)


@dataclass(frozen=True)
class Looks:
    """Where a model looked while it wrote an answer."""

    tokens: Sequence[str]
    """The question, and the answer as far as it was read."""
    n_question: int
    """How many of them are the question's."""
    weights: Sequence[Float[torch.Tensor, "H T T"]]
    """Layer by layer."""


class QASession:
    """A saved language model that answers one question after the other."""

    def __init__(
        self,
        path: Path,
        *,
        corpus: str = "",
        samples: int = 32,
        accept_changed_code: bool = False,
    ) -> None:
        saved = open_saved(path, corpus=corpus, accept_changed_code=accept_changed_code)
        self.hardware = computing_like(saved.run)
        self.lm: LanguageModel = saved.load()
        self.hardware.place(self.lm.model)
        self.samples = samples
        rows = saved.calibration
        # A corpus that is not `Name. Text` says nothing about whom it is about.
        known = [row["was_read"] for row in rows if "was_read" in row]
        has_names = not known or sum(known) > len(known) / 2
        self.names = names_of(saved.corpus) if has_names and has_entries(saved.corpus) else None
        self.names_are_lost = has_names and bool(saved.lost_corpus)
        self.warnings = saved.warnings
        self.thresholds: Thresholds | None = (
            choose_thresholds(column(rows, "confidence"), right(rows)) if rows else None
        )

    def answer(self, text: str) -> Answer:
        """Answer a question and say whether it looks retrieved or made up."""
        question = _question(text)
        with inference(self.lm.model, self.hardware):
            (row,) = self.lm.ask([question])
            (drawn,) = self.lm.sample([question], count=self.samples, seed=0)
        verdict, reason = self._verdict(text, row["confidence"])
        others = {other: likely for other, likely in drawn if other != row["prediction"]}
        return Answer(
            row["prediction"],
            row["confidence"],
            verdict,
            reason,
            agreement(row["prediction"], drawn)["agreement"],
            sorted(others.items(), key=lambda pair: -pair[1])[:RUNNERS_UP],
            self.warnings,
        )

    def looks(self, text: str) -> Looks:
        """Return where the model looks while it answers."""
        attention = self.lm.size.attention.name
        if not self.lm.model.shows_weights:
            raise UserError(f"attention {attention!r} has no weights that could be shown.")
        question = _question(text)
        prompt = self.lm.prompt(question)
        tokenizer = self.lm.tokenizer
        with inference(self.lm.model, self.hardware):
            (row,) = self.lm.ask([question])
            tokens = [*prompt, *tokenizer.encode(row["prediction"])]
            given = torch.tensor([tokens], device=self.hardware.device)
            weights = self.lm.model.attention_weights(given)
        return Looks(
            [tokenizer.decode([token]) for token in tokens],
            len(prompt),
            [layer[0].float().cpu() for layer in weights],
        )

    def _verdict(
        self, text: str, confidence: float
    ) -> tuple[Verdict | Literal["not checked"], str]:
        if self.names is not None and named_in(text, self.names) is None:
            return "made up", "the corpus has nothing about a person of that name"
        verdict = self.thresholds.verdict(confidence) if self.thresholds else "unsure"
        if self.names_are_lost and verdict != "made up":
            return "not checked", NAMES_ARE_LOST
        reason = _reason(verdict, self.thresholds) if self.thresholds else NO_ONE_HELD_OUT
        return verdict, reason


def _reason(verdict: Verdict, thresholds: Thresholds) -> str:
    n = thresholds.chosen_on
    if verdict == "retrieved" and (found := thresholds.retrieved):
        return (
            f"{found.n} of {n} held-out people were answered with at least"
            f" {percent(found.value)} confidence, {percent(found.share)} of them right"
        )
    if verdict == "made up" and (found := thresholds.made_up):
        return (
            f"{found.n} of {n} held-out people were answered with at most"
            f" {percent(found.value)} confidence, {percent(found.share)} of them wrong"
        )
    if thresholds.retrieved is None:
        return f"{n} held-out people are too few, or too often wrong, to choose a threshold"
    return f"less confident than the threshold chosen on {n} held-out people"


def _question(text: str) -> Question:
    if not text.strip():
        raise UserError("the question is empty.")
    for reserved in (PAD, SENTINEL):
        if reserved in text:
            raise UserError(f"the question holds the reserved character {reserved!r}.")
    return Question(text, None, "your question")
