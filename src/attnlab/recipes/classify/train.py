"""Fine-tuning: a pretrained BERT learns to tell classes, perhaps with masked text beside."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.assets.models import find_model
from attnlab.attention.settings import AttentionSettings
from attnlab.data.epochs import Epochs, rows_a_batch
from attnlab.data.masking import Masked, MaskedRows, block_rows, line_rows, mask_tokens
from attnlab.data.text_batches import TextRow
from attnlab.data.wordpiece import WordPiece
from attnlab.evaluation.accuracy import score_answers, share_right
from attnlab.models.bert_format import TABLE, Pretrained, hub_name, read_bert, write_bert
from attnlab.models.classification import Classification
from attnlab.models.used_rows import UsedRows
from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.classify.classifier import check_fits, columns, new_classifier
from attnlab.recipes.classify.settings import JOB, MODEL, ClassifySettings, MaskedSettings
from attnlab.recipes.classify.texts import Texts, files_of, read_texts
from attnlab.runs import machine
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState, train
from attnlab.training.randomness import rng
from attnlab.training.session import Session, open_session
from attnlab.training.task import Evaluation


def run_train(settings: ClassifySettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from labelled text and leave the run with its record; resumes by itself."""
    with open_session(JOB, settings, settings.training, place=place, console=console) as session:
        if session.run.finished:
            session.insist_on_files(files_of(settings))
        else:
            settle_attention(session, AttentionSettings())
            folder = session.world.from_lead(lambda: str(find_model(settings.model)))
            pretrained = read_bert(Path(folder))
            session.insist("base", pretrained.sha256, what=f"the model {settings.model}")
            texts = read_texts(settings)
            session.insist("data", dict(texts.sha256), what="what the files hold")
            fine_tuning = FineTuning(settings, pretrained, texts, session)
            del pretrained  # all its tensors would stay in memory beside the model's
            fine_tuning.learn()
        return session.run


class FineTuning:
    """A classifier, the texts it learns from, and those it is asked about."""

    def __init__(
        self,
        settings: ClassifySettings,
        pretrained: Pretrained,
        texts: Texts,
        session: Session,
    ) -> None:
        self.settings, self.texts, self.session = settings, texts, session
        check_fits(pretrained, settings, texts)
        self.ledger = texts.ledger()
        self.classifier, self.fresh = new_classifier(
            pretrained,
            texts.classes,
            max_len=settings.max_len,
            fills_in=bool(texts.unlabelled),
            pooler=settings.pooler,
            seed=settings.training.seed,
        )
        self.rows = {
            split: [self.classifier.row(example) for example in examples]
            for split, examples in {"train": texts.train, **texts.asked}.items()
        }
        # a head that scores every token needs the whole table
        self.used = None if texts.unlabelled else UsedRows.of(*self.rows.values())
        if self.used:
            self.used.shrink(self.classifier.model.body)
            self.rows = {split: self.used.renumbered(rows) for split, rows in self.rows.items()}
        # the export puts the rows that were left out back from there
        self.pretrained = pretrained.keeping(TABLE) if self.used else pretrained.keeping()

    def learn(self) -> None:
        """Train, answer every split, export the model and close the run."""
        task = self.task()
        if self.fresh:
            parts = sorted({hub_name(name).rpartition(".")[0] for name in self.fresh})
            self.session.say(
                f"begun afresh: {', '.join(parts)}, not taken from {self.settings.model}"
            )
        state = train(task, self.settings.training, self.session)
        self.session.world.from_lead(lambda: self._close(state))

    def task(self) -> Classification:
        """Return what is learned."""
        return Classification(
            self.classifier.model,
            self._epochs(self.rows["train"], purpose="order"),
            unlabelled=self._masked_rows() if self.texts.unlabelled else None,
            alpha=self.settings.masked.alpha,
            evaluate=self._evaluate,
        )

    def _epochs(self, rows: Sequence[TextRow], *, purpose: str) -> Epochs[TextRow]:
        size, seed = rows_a_batch(self.settings.batch_size), self.settings.training.seed
        return Epochs(lambda _: rows, size=size, seed=seed, purpose=purpose)

    def _masked_rows(self) -> MaskedRows:
        """Return the unlabelled text by step."""
        words, masked = self.classifier.words, self.settings.masked
        seed = self.settings.training.seed
        rows = [
            TextRow(f"unlabelled row {i}", tokens, [0] * len(tokens), [])
            for i, tokens in enumerate(unlabelled_rows(self.texts.unlabelled, words, masked), 1)
        ]

        def mask(drawn: list[Sequence[int]], step: int) -> Masked:
            return mask_tokens(
                drawn,
                rng(seed, "masking", step),
                share=masked.share,
                mask_id=words.mask,
                vocab_size=len(words),
                special_ids=words.special_ids,
            )

        return MaskedRows(self._epochs(rows, purpose="order of unlabelled text"), mask)

    def _evaluate(self) -> Evaluation | None:
        """Ask dev; its accuracy chooses the step that is kept."""
        if "dev" not in self.rows:
            return None
        answers = self._answers("dev")
        gold, given = columns(answers)
        accuracy = share_right(gold, given)
        loss = sum(answer["loss"] for answer in answers) / len(answers)
        return Evaluation(accuracy, {"dev_accuracy": accuracy, "dev_loss": loss})

    def _answers(self, split: str) -> list[dict[str, Any]]:
        return self.classifier.answers(self.texts.asked[split], self.rows[split])

    @property
    def _is_chosen(self) -> bool:
        """Whether dev chose among several steps."""
        return "dev" in self.rows and self.settings.training.evaluate_every > 0

    def _close(self, state: TrainingState) -> None:
        run, texts = self.session.run, self.texts
        with inference(self.classifier.model, self.session.hardware):
            answers = {split: self._answers(split) for split in texts.asked}
        for split, rows in answers.items():
            run.write_predictions(split, rows)
        if self.used:
            self.used.grow(self.classifier.model.body, self.pretrained.tensors[TABLE])
        write_bert(self.classifier.model, self.pretrained, run.path / MODEL, classes=texts.classes)
        known = [example.label for example in texts.train if example.label is not None]
        run.finish(
            {
                "job": JOB,
                "scores": {
                    split: score_answers(*columns(rows), train_gold=known)
                    for split, rows in answers.items()
                    if "gold" in rows[0]
                },
                "test": "none" if "test" not in answers else "asked once",
                "classes": list(texts.classes),
                "begun_afresh": self.fresh,
                "has_pairs": texts.has_pairs,
                "ledger": self.ledger,
                **state.summary(),
                "chosen_on": "dev" if self._is_chosen else "nothing: the last step is kept",
                "hardware": run.config["resolved"],
                **machine.describe(),
            }
        )


def unlabelled_rows(
    lines: Sequence[str], words: WordPiece, settings: MaskedSettings
) -> list[list[int]]:
    """Encode unlabelled text, a row a line or in whole blocks."""
    encoded = [words.encode(line) for line in lines]
    make = line_rows if settings.line_by_line else block_rows
    return make(encoded, block=settings.block, cls=words.cls, sep=words.sep)
