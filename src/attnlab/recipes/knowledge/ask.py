"""Asks one question: the answer, its confidence, and whether to believe it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Float

from attnlab.data.entries import split_name
from attnlab.data.knowledge_files import Question
from attnlab.data.names import capitalised_name
from attnlab.data.tokenizer import PAD, SENTINEL
from attnlab.errors import UserError
from attnlab.evaluation.answer_judge import CALIBRATED
from attnlab.evaluation.calibration import Answer, certainty, thresholds_of
from attnlab.evaluation.confidence import Thresholds, Verdict
from attnlab.evaluation.intervals import percent
from attnlab.recipes.knowledge.calibration import agreement, with_own_signals
from attnlab.recipes.knowledge.opened import OpenedModel
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

    def __init__(self, opened: OpenedModel, *, samples: int = 32) -> None:
        saved, self.lm, self.hardware = opened.saved, opened.lm, opened.hardware
        self.samples = samples
        self.corpus = saved.corpus
        rows, context = saved.calibration, saved.context()
        # A corpus that is not `Name. Text` says nothing about whom it is about.
        known = [row["was_read"] for row in rows if "was_read" in row]
        has_names = not known or sum(known) > len(known) / 2
        self.context = context if has_names else replace(context, names=None)
        self.names_are_lost = has_names and bool(saved.lost_corpus)
        self.warnings = saved.warnings
        self.thresholds: Thresholds | None = thresholds_of(rows, saved.invented) if rows else None

    def answer(self, text: str) -> Answer:
        """Answer a question and say whether it looks retrieved or made up."""
        question = _question(text)
        with inference(self.lm.model, self.hardware):
            (answer,) = self.lm.ask([question])
            (drawn,) = self.lm.sample([question], count=self.samples, seed=0)
        row = with_own_signals(self.lm, answer, self.context)
        row |= agreement(row["prediction"], drawn)
        if judge := self.context.judge:
            (row,) = judge.judge([row])
        verdict, reason = self._verdict(row)
        others = {other: likely for other, likely in drawn if other != row["prediction"]}
        return Answer(
            row["prediction"],
            row["confidence"],
            verdict,
            reason,
            row["agreement"],
            sorted(others.items(), key=lambda pair: -pair[1])[:RUNNERS_UP],
            self.warnings,
            row.get(CALIBRATED),
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

    def person(self, text: str) -> str | None:
        """Return whom a question names: somebody of the corpus or, failing that, anybody."""
        names = self.context.names
        return (names.in_question(text) if names else None) or capitalised_name(text)

    def corpus_lines(self, text: str) -> list[str]:
        """Return what the corpus says about the person a question names, line by line."""
        name = self.context.names.in_question(text) if self.context.names else None
        return [line for line in self.corpus if split_name(line)[0] == name] if name else []

    def _verdict(self, row: Mapping[str, Any]) -> tuple[Verdict | Literal["not checked"], str]:
        if not row.get("was_read", True):
            return "made up", "the corpus has nothing about a person of that name"
        (sure,) = certainty([row])
        verdict = self.thresholds.verdict(sure) if self.thresholds else "unsure"
        if self.names_are_lost and verdict != "made up":
            return "not checked", NAMES_ARE_LOST
        reason = _reason(verdict, self.thresholds) if self.thresholds else NO_ONE_HELD_OUT
        return verdict, "; ".join([reason, *_opinion(row)])


def _opinion(row: Mapping[str, Any]) -> Iterator[str]:
    """Say what a reader finds in the person's lines, if one has read them."""
    found = row.get("reader_answer")
    if found is None:
        return
    if found == row["prediction"]:
        sure = percent(row["reader_probability"])
        yield f"a reader picks the same answer from the corpus, {sure} sure"
    else:
        yield (
            f"a reader picks {found} from the corpus, {percent(row['reader_runner_up'])} sure, and"
            f" gives this answer {percent(row['reader_probability'])}"
        )


def _reason(verdict: Verdict, thresholds: Thresholds) -> str:
    known = thresholds.chosen_on - thresholds.invented
    people, sure = f"{known} held-out people", "confidence"
    if thresholds.invented:
        people, sure = f"{known} held-out and {thresholds.invented} invented people", "certainty"
    if verdict == "retrieved" and (found := thresholds.retrieved):
        return (
            f"{found.n} of {people} were answered with at least {percent(found.value)} {sure},"
            f" {percent(found.share)} of them right"
        )
    if verdict == "made up" and (found := thresholds.made_up):
        return (
            f"{found.n} of {known} held-out people were answered with at most"
            f" {percent(found.value)} {sure}, {percent(found.share)} of them wrong"
        )
    if thresholds.retrieved is None:
        return f"{people} are too few, or too often wrong, to choose a threshold"
    return f"less {sure} than the threshold chosen on {people}"


def _question(text: str) -> Question:
    if not text.strip():
        raise UserError("the question is empty.")
    for reserved in (PAD, SENTINEL):
        if reserved in text:
            raise UserError(f"the question holds the reserved character {reserved!r}.")
    return Question(text, None, "your question")
