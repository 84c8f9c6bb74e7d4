"""What pretraining and fine-tuning share: train on rows, then answer questions."""

from collections.abc import Callable, Sequence
from functools import partial
from heapq import nlargest
from statistics import fmean
from typing import Any

from attnlab.checks.leakage import SECONDS_BEFORE_TRAINING, seconds_after_training
from attnlab.data.batches import TokenRow
from attnlab.data.epochs import Epochs
from attnlab.data.knowledge_files import Question
from attnlab.data.objectives import OBJECTIVES, Objective, Preference
from attnlab.data.tokenizer import Tokenizer
from attnlab.errors import UserError
from attnlab.evaluation.calibration import CALIBRATION
from attnlab.evaluation.held_out_text import SPLIT as HELD_OUT_TEXT
from attnlab.evaluation.metrics import ACCURACY
from attnlab.models.activations import Part, activations, need_memory_for_step
from attnlab.models.gpt import Block
from attnlab.models.next_token import NextToken
from attnlab.randomness import rng
from attnlab.recipes.closing import LAST_STEP, close_run
from attnlab.recipes.knowledge.calibration import Context, examine, names_of
from attnlab.recipes.knowledge.corpus_reader import FILE as READER_FILE
from attnlab.recipes.knowledge.corpus_reader import CorpusReader, learn_to_read
from attnlab.recipes.knowledge.held_out_text import HeldOutText
from attnlab.recipes.knowledge.language_model import FILE, LanguageModel, check_questions
from attnlab.recipes.knowledge.reader_notes import reader_record, reader_warnings
from attnlab.recipes.knowledge.settings import LanguageModelSettings, ObjectiveSettings
from attnlab.recipes.knowledge.texts import KnowledgeTexts
from attnlab.runs.predictions import column
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState
from attnlab.training.session import Session
from attnlab.training.settings import TrainingSettings
from attnlab.training.task import Evaluation

ON_THE_WAY = ("held_out", "dev")
"""Splits that are evaluated during training; they always have answers."""
LEAK_ROWS = 2


class LanguageModelTraining:
    """A language model, what it is trained on, and the questions it is evaluated on."""

    def __init__(
        self, lm: LanguageModel, texts: KnowledgeTexts, rows: Epochs[TokenRow], session: Session
    ) -> None:
        """Check, before anything is learned, that every question fits and nothing leaks."""
        self.lm, self.texts, self.rows, self.session = lm, texts, rows, session
        for questions in texts.eval_splits.values():
            check_questions(lm, questions)
        longest = nlargest(LEAK_ROWS, rows.rows(0), key=lambda row: len(row.tokens))
        # measured in windows like those it learns from
        end, block = texts.held_out_text or "", len(longest[0])
        self.held_out_text = HeldOutText.of(end, lm.tokenizer, block=block)
        self.leak_rows = [row.tokens[: lm.model.max_len] for row in longest]
        budget = SECONDS_BEFORE_TRAINING
        session.processes.from_lead(lambda: lm.leak(self.leak_rows, seconds=budget).to_dict())

    def task(self, training: TrainingSettings) -> NextToken:
        """Return what the loop trains."""
        if training.patience and not self._chooser:
            raise UserError(
                f"training.patience = {training.patience} counts evaluations on held-out training"
                " questions, but none are held out: set held_out as well."
            )
        self._say_if_unscored()
        # Chosen by held-out people, a step would make what they say of confidence optimistic.
        evaluate = partial(self._evaluate, chooses=training.patience > 0)
        return NextToken(self.lm.model, self.rows, evaluate=evaluate)

    def _say_if_unscored(self) -> None:
        """Say before step 1 that a run will end without a score, and what would give it one."""
        asked = [q for questions in self.texts.eval_splits.values() for q in questions]
        if self.held_out_text.rows or any(question.answer for question in asked):
            return
        self.session.say(
            "this run will end without a score: no text is held out, which objective running_text"
            f" does, and {'the questions have no answers' if asked else 'no questions are asked'}"
            " (dev, test, or held_out of the training questions). Its training loss is logged."
        )

    def close(self, state: TrainingState, *, samples: int, warnings: Sequence[str] = ()) -> None:
        """Answer every split and close the run."""
        said = [*reader_warnings(self.texts), *warnings]
        self.session.processes.from_lead(lambda: self._close(state, samples, said))

    def _evaluate(self, *, chooses: bool) -> Evaluation | None:
        """Measure on the way; if it ``chooses`` the best step, then by what is held out alone."""
        logged = self._ask() | {
            f"{HELD_OUT_TEXT}_{name}": value
            for name, value in self.held_out_text.metrics(self.lm).items()
        }
        if not logged:
            return None
        score = {
            "held_out": logged.get("held_out_accuracy"),
            HELD_OUT_TEXT: -logged.get(f"{HELD_OUT_TEXT}_loss", 0.0),
        }
        return Evaluation(score.get(self._chooser) if chooses else None, logged)

    @property
    def _chooser(self) -> str:
        """The split that may choose the step that is kept, if there is one."""
        if "held_out" in self.texts.eval_splits:
            return "held_out"
        return HELD_OUT_TEXT if self.held_out_text.rows else ""

    def _ask(self) -> dict[str, float]:
        """Ask the questions of some splits, and as many of training."""
        asked = {s: q for s, q in self.texts.eval_splits.items() if s in ON_THE_WAY}
        if not asked:
            return {}
        smallest = min(map(len, asked.values()))
        asked = {"train": self.texts.train[:smallest], **asked}
        logged: dict[str, float] = {}
        for split, questions in asked.items():
            if questions:
                answers = self.lm.ask(questions)
                logged[f"{split}_accuracy"] = ACCURACY.score(answers)
                logged[f"{split}_loss"] = fmean(column(answers, "loss"))
        return logged

    def _close(self, state: TrainingState, samples: int, warnings: Sequence[str]) -> None:
        lm, texts = self.lm, self.texts
        reader = self._reader()
        leak = lm.leak(self.leak_rows, seconds=seconds_after_training(state.seconds))
        with inference(lm.model, self.session.hardware):
            found = examine(
                lm,
                texts.eval_splits,
                Context(names_of(texts.corpus), reader),
                samples=samples,
                is_lost=texts.has_lost_corpus,
            )
            read = self.held_out_text.predictions(lm)
        lm.save(self.session.run)
        if reader:
            reader.save(self.session.run)
        close_run(
            self.session.run,
            {**found.answers, **({HELD_OUT_TEXT: read} if read else {})},
            splits=texts.splits([row["input"] for row in read]),
            scores={HELD_OUT_TEXT: self._text_score(read)} if read else {},
            train_gold=[question.answer for question in texts.train],
            warnings=warnings,
            files=[FILE, READER_FILE],
            confidence=found.confidence,
            leak=leak.to_dict(),
            has_read=bool(texts.corpus) or texts.has_lost_corpus,
            steps_per_epoch=self.rows.per_epoch,
            **state.summary(),
            **reader_record(texts),
            chosen_on=self._chooser if state.best_step is not None else LAST_STEP,
        )

    def _reader(self) -> CorpusReader | None:
        """Return what reads with the book open, if people were held out to judge answers by."""
        texts = self.texts
        if texts.reader or CALIBRATION not in texts.eval_splits:
            return texts.reader
        return learn_to_read(texts.corpus, texts.train)

    def _text_score(self, read: Sequence[dict[str, Any]]) -> dict[str, Any]:
        learned = self.rows.rows(0)
        return self.held_out_text.score(
            read, learned, lines=self.texts.corpus, vocab_size=len(self.lm.tokenizer)
        )


def need_memory_for_batches(
    lm: LanguageModel, rows: Epochs[TokenRow], settings: LanguageModelSettings, session: Session
) -> None:
    """Refuse, before step 1, batches that cannot be trained on in this memory."""
    batch = rows.largest_batch()
    n_parts = settings.training.accumulate * session.processes.size
    part = Part.of(batch, n_parts, n_scored=sum(row.n_scored for row in batch))
    block = lm.model.blocks[0]
    assert isinstance(block, Block)
    count = activations(lm.size, block.attn, part, vocab_size=len(lm.tokenizer))
    need_memory_for_step(count, part, session, setting=f"batch_tokens = {settings.batch_tokens}")


def build_objective(
    settings: ObjectiveSettings,
    corpus: Sequence[str],
    tokenizer: Tokenizer,
    preference: Preference,
) -> Objective:
    """Make what draws rows from a corpus; it may prefer what training questions ask for."""
    built: Objective = OBJECTIVES.build(
        settings.name, corpus, tokenizer, preference, options=settings.options
    )
    return built


def preferring_answers(train: Sequence[Question]) -> Preference:
    """Prefer whatever answers some training question."""
    known = {question.answer for question in train}
    return lambda _, span: float(span in known)


def mixed_rows(
    objective: Objective, questions: Sequence[TokenRow], *, seed: int
) -> Callable[[int], Sequence[TokenRow]]:
    """Return what draws an epoch: every document and every question once."""

    def rows_of(epoch: int) -> Sequence[TokenRow]:
        rows = objective.rows(rng(seed, "objective", epoch))
        return [*rows, *questions] if questions else rows  # which may be no list, to save memory

    return rows_of
