"""Fine-tuning: a pretrained encoder learns to classify, optionally with masked text."""

from collections.abc import Callable, Sequence
from typing import Any

from attnlab.data.epochs import Epochs
from attnlab.data.text_batches import TextRow
from attnlab.data.text_tokenizer import MaskingTokenizer
from attnlab.models.activations import Part, need_memory_for_step
from attnlab.models.classification import Classification
from attnlab.models.compact_embedding import leave_out_unused
from attnlab.models.encoder import EncoderCheckpoint
from attnlab.phases import phase
from attnlab.recipes.classify.classifier import Classifier, check_fits, new_classifier, predicted
from attnlab.recipes.classify.closing import (
    close_classification,
    overfitting_verdict,
    score_dev,
)
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.streams import labelled_stream, masked_stream
from attnlab.recipes.classify.texts import ClassifyTexts
from attnlab.recipes.classify.tuned_model import export_note, write_tuned
from attnlab.runs.shapes import shown
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState
from attnlab.training.session import Session
from attnlab.training.task import Evaluation
from attnlab.tuning.features import FeatureRow, HeadTraining, encode_once, feature_probabilities
from attnlab.tuning.movement import check_movement, fingerprints
from attnlab.tuning.tuned import apply_tuning


class FineTuning:
    """A classifier, the texts it is trained on, and those it is evaluated on."""

    def __init__(
        self,
        settings: ClassifySettings,
        checkpoint: EncoderCheckpoint,
        texts: ClassifyTexts,
        session: Session,
    ) -> None:
        """Put a classifier on the pretrained body, and cut all texts into tokens."""
        self.settings, self.texts, self.session = settings, texts, session
        check_fits(checkpoint, settings, texts)
        self._classified_as = checkpoint.classes
        self.classifier, self.fresh = new_classifier(
            checkpoint, texts.classes, settings, fills_in=bool(texts.unlabelled)
        )
        self.checkpoint = checkpoint.released()
        model, seed = self.classifier.model, settings.training.seed
        self.tuned = apply_tuning(model, settings.tuning, seed=seed)
        self._said = self.tuned.describe()  # while the model is whole
        self.rows = _rows(self.classifier, texts)
        self._make_table_whole = self._leave_out_unused_rows()
        session.hardware.place(model)  # in the run's precision: what follows compares bits
        self._before = fingerprints(model)
        self._features: dict[str, Sequence[FeatureRow]] = {}

    def _leave_out_unused_rows(self) -> Callable[[], None]:
        """Keep only the tokens that occur before test is read, until what is returned is called.

        With those of test, no run that reads it could go on from one that does not.
        """
        owner = self.classifier.model.table_owner()
        if owner is None or self.texts.unlabelled:  # a head that scores every token needs them all
            return lambda: None
        return leave_out_unused(owner, *self._rows_before_test().values())

    def _rows_before_test(self) -> dict[str, Sequence[TextRow]]:
        return {split: rows for split, rows in self.rows.items() if split != "test"}

    def task(self) -> Classification | HeadTraining:
        """Return what the loop trains."""
        self._say_what_is_trained()
        if self.tuned.method == "head" and self.classifier.model.is_cut:
            return self._head_training()
        labelled = labelled_stream(self.rows["train"], self.settings)
        masked = self._masked_stream()
        self._need_memory(labelled, masked)
        return Classification(
            self.classifier.model,
            labelled,
            unlabelled=masked,
            alpha=self.settings.masked.alpha,
            evaluate=self._evaluate,
        )

    def _say_what_is_trained(self) -> None:
        if self.fresh:
            parts = sorted({name.rpartition(".")[0] for name in self.fresh})
            what = "new classifier head" if "classifier" in parts else "new layers"
            why = f"has no {', '.join(parts)}"
            if self._classified_as not in ((), tuple(self.texts.classes)):
                before, now = map(shown, (list(self._classified_as), list(self.texts.classes)))
                why = f"has the classes {before}, the texts {now}"
            self.session.say(f"{what}: {self.settings.model} {why}")
        self.session.say(self._said)

    def _masked_stream(self) -> Epochs[TextRow] | None:
        """Return the unlabelled text by step, if there is any."""
        if not self.texts.unlabelled:
            return None
        tokenizer = self.classifier.tokenizer
        assert isinstance(tokenizer, MaskingTokenizer), "check_fits refuses the others"
        return masked_stream(self.texts.unlabelled, tokenizer, self.settings)

    def _head_training(self) -> HeadTraining:
        """Let the body, which stays as it is, read every text once, and train on what it makes."""
        model = self.classifier.model
        self._features = {
            split: encode_once(model, rows, self.session)
            for split, rows in self._rows_before_test().items()
        }
        stream = labelled_stream(self._features["train"], self.settings)
        return HeadTraining(model, stream, evaluate=self._evaluate)

    def _answers(self, split: str) -> list[dict[str, Any]]:
        """Predict the classes of a split's texts."""
        examples = self.texts.eval_splits[split]
        if self._features:
            if split not in self._features:
                encoded = encode_once(self.classifier.model, self.rows[split], self.session)
                self._features[split] = encoded
            likely = feature_probabilities(self.classifier.model, self._features[split])
            return predicted(examples, likely, classes=self.texts.classes)
        return self.classifier.answers(examples, self.rows[split])

    def _need_memory(self, labelled: Epochs[TextRow], masked: Epochs[TextRow] | None) -> None:
        """Refuse batches that cannot be trained on in this memory."""
        settings = self.settings
        n_parts = settings.training.accumulate * self.session.processes.size
        part, read = Part.of(labelled.largest_batch(), n_parts), None
        if masked:
            batch = masked.largest_batch()
            n_scored = int(settings.masked.share * sum(map(len, batch)))
            read = Part.of(batch, n_parts, n_scored=n_scored)
        count = self.classifier.model.activations(part, read)
        setting = f"batch_size = {settings.batch_size}"
        need_memory_for_step(count, part, self.session, setting=setting)

    def close(self, state: TrainingState) -> None:
        """Answer every split, export the model and close the run."""
        self.session.processes.from_lead(lambda: self._close(state))

    def _evaluate(self) -> Evaluation | None:
        """Ask dev; its accuracy chooses the step that is kept."""
        if "dev" not in self.rows:
            return None
        return score_dev(self._answers("dev"))

    def _close(self, state: TrainingState) -> None:
        run, texts, tuned = self.session.run, self.texts, self.tuned
        movement = check_movement(tuned, self._before, steps=state.best_step or state.step)
        if movement.n_frozen or movement.still:
            self.session.say(movement.describe())
        if self.settings.tuning.merge:
            tuned.merge()
        self._make_table_whole()  # test may have other tokens
        with inference(tuned.model, self.session.hardware):
            predictions = {split: self._answers(split) for split in texts.eval_splits}
        if self.settings.overfit:
            self.session.say(overfitting_verdict(predictions["dev"], steps=state.step))
        write_tuned(tuned, self.checkpoint, run.path / MODEL, classes=texts.classes)
        if note := export_note(tuned):
            self.session.say(note)
        close_classification(
            run,
            texts,
            predictions,
            settings=self.settings,
            state=state,
            begun_afresh=self.fresh,
            tuning=tuned.method,
            n_trainable=tuned.n_trainable,
            steps_per_epoch=-(-len(texts.train) // self.settings.batch_size),
        )


def _rows(classifier: Classifier, texts: ClassifyTexts) -> dict[str, Sequence[TextRow]]:
    """Cut the texts of every split into tokens."""
    splits = {"train": texts.train, **texts.eval_splits}
    with phase(f"tokenizing {sum(map(len, splits.values())):,} texts"):
        return {
            split: [classifier.row(example) for example in examples]
            for split, examples in splits.items()
        }
