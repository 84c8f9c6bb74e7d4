"""What pretraining and finetuning have in common: learn from rows, then answer questions."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from attnlab.data.batches import Batches, TokenRow
from attnlab.data.knowledge_files import Question
from attnlab.data.objectives import OBJECTIVES, Objective
from attnlab.data.vocabulary import Vocabulary
from attnlab.errors import UserError
from attnlab.evaluation.accuracy import score_answers, share_right
from attnlab.evaluation.leakage import SECONDS_BEFORE_TRAINING, seconds_after_training
from attnlab.models.next_token import NextToken
from attnlab.recipes.knowledge.doubt import examine
from attnlab.recipes.knowledge.learner import Learner, check_questions
from attnlab.recipes.knowledge.settings import ObjectiveSettings
from attnlab.recipes.knowledge.texts import Texts
from attnlab.runs import machine
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState, train
from attnlab.training.randomness import rng
from attnlab.training.session import Session
from attnlab.training.settings import TrainingSettings
from attnlab.training.task import Evaluation

ON_THE_WAY = ("held_out", "dev")
"""Splits that are asked while training, and always have answers."""
LEAK_ROWS = 2


class Lesson:
    """A learner, the rows it learns from, and the questions that it is asked."""

    def __init__(
        self, learner: Learner, texts: Texts, session: Session, *, samples: int = 0
    ) -> None:
        self.learner, self.texts, self.session, self.samples = learner, texts, session, samples
        for questions in texts.asked.values():
            check_questions(learner, questions)

    def learn(
        self,
        rows_of: Callable[[int], Sequence[TokenRow]],
        training: TrainingSettings,
        *,
        batch_tokens: int,
    ) -> None:
        """Train on the rows of each epoch, answer every split, and close the run."""
        if training.patience and "held_out" not in self.texts.asked:
            raise UserError(
                f"training.patience = {training.patience} counts evaluations on held-out training"
                " questions, but none are held out: set held_out as well."
            )
        batches = Batches(rows_of, batch_tokens=batch_tokens, seed=training.seed)
        longest = sorted(batches.epochs.rows(0), key=lambda row: -len(row.tokens))[:LEAK_ROWS]
        sample = [row.tokens for row in longest]
        self.session.world.from_lead(
            lambda: self.learner.leak(sample, seconds=SECONDS_BEFORE_TRAINING).to_dict()
        )
        # Chosen by held-out people, a step would flatter what they say about confidence.
        evaluate = partial(self._evaluate, chooses=training.patience > 0)
        task = NextToken(self.learner.model, batches, evaluate=evaluate)
        state = train(task, training, self.session)
        per_epoch = batches.epochs.per_epoch
        self.session.world.from_lead(lambda: self._close(state, sample, per_epoch))

    def _evaluate(self, *, chooses: bool) -> Evaluation | None:
        """Ask on the way; if it ``chooses`` the best step, then by held-out questions alone."""
        asked = {s: q for s, q in self.texts.asked.items() if s in ON_THE_WAY}
        if not asked:
            return None
        smallest = min(map(len, asked.values()))
        asked = {"train": self.texts.train[:smallest], **asked}
        logged: dict[str, float] = {}
        for split, questions in asked.items():
            if questions:
                answers = self.learner.ask(questions)
                gold, given = _columns(answers)
                logged[f"{split}_accuracy"] = share_right(gold, given)
                logged[f"{split}_loss"] = fmean(answer["loss"] for answer in answers)
        return Evaluation(logged.get("held_out_accuracy") if chooses else None, logged)

    def _close(self, state: TrainingState, sample: Sequence[Sequence[int]], per_epoch: int) -> None:
        run, learner = self.session.run, self.learner
        leak = learner.leak(sample, seconds=seconds_after_training(state.seconds))
        with inference(learner.model, self.session.hardware):
            found = examine(
                learner, self.texts.asked, samples=self.samples, corpus=self.texts.corpus
            )
        for split, answers in found.answers.items():
            run.write_predictions(split, answers)
        learner.save(run)
        run.finish(
            {
                "job": run.config["job"],
                "scores": scores_of(found.answers, self.texts.train),
                "confidence": found.confidence,
                "leak": leak.to_dict(),
                "ledger": self.texts.ledger(),
                "steps_per_epoch": per_epoch,
                **state.summary(),
                "chosen_on": "held_out",
                "hardware": run.config["resolved"],
                **machine.describe(),
            }
        )


def build_objective(
    settings: ObjectiveSettings,
    corpus: Sequence[str],
    vocabulary: Vocabulary,
    train: Sequence[Question],
) -> Objective:
    """Make what draws rows from a corpus; it may know the answers of training questions."""
    answers = [question.answer for question in train]
    built: Objective = OBJECTIVES.build(
        settings.name, corpus, vocabulary, answers, options=settings.options
    )
    return built


def mixed_rows(
    objective: Objective, questions: Sequence[TokenRow], *, seed: int
) -> Callable[[int], list[TokenRow]]:
    """Return what draws an epoch: every document and every question once."""

    def rows_of(epoch: int) -> list[TokenRow]:
        return [*objective.rows(rng(seed, "objective", epoch)), *questions]

    return rows_of


def scores_of(
    splits: Mapping[str, Sequence[dict[str, Any]]], train: Sequence[Question]
) -> dict[str, Any]:
    """Score every split whose truth is known."""
    return {
        split: score(answers, train)
        for split, answers in splits.items()
        if answers and "gold" in answers[0]
    }


def score(answers: Sequence[dict[str, Any]], train: Sequence[Question]) -> dict[str, Any]:
    """Say what the answers are worth, beside always giving the commonest training answer.

    Where no training answers are known, the commonest of the right ones takes its place, which no
    constant answer can beat.
    """
    gold, given = _columns(answers)
    known = [question.answer for question in train if question.answer is not None]
    return score_answers(gold, given, train_gold=known or gold)


def _columns(answers: Sequence[dict[str, Any]]) -> tuple[list[str], list[str]]:
    return [row["gold"] for row in answers], [row["prediction"] for row in answers]
