"""Fine-tuning: train a pretrained encoder to classify, optionally with masked text."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.assets.models import find_model
from attnlab.assets.substitutions import substituted_among
from attnlab.data.epochs import Epochs, rows_per_batch
from attnlab.data.text_batches import TextRow
from attnlab.data.text_tokenizer import MaskingTokenizer
from attnlab.errors import UserError
from attnlab.evaluation.metrics import ACCURACY
from attnlab.models.activations import Part, need_memory_for_step
from attnlab.models.classification import Classification
from attnlab.models.compact_embedding import CompactEmbedding
from attnlab.models.encoder import EncoderCheckpoint, open_checkpoint
from attnlab.phases import phase
from attnlab.recipes.classify.classifier import Classifier, check_fits, new_classifier
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.streams import labelled_stream, masked_stream
from attnlab.recipes.classify.texts import (
    ClassifyTexts,
    fetch_texts,
    files_of,
    read_texts,
    references,
    refuse_unused_share,
)
from attnlab.recipes.classify.tuned_model import write_tuned
from attnlab.recipes.closing import LAST_STEP, close_run
from attnlab.recipes.files import need
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.recipes.seen_rows import START_RECORD
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.files import sha256_of
from attnlab.runs.predictions import column
from attnlab.training.distributed import join_processes
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState, train
from attnlab.training.session import Session
from attnlab.training.task import Evaluation
from attnlab.tuning.features import FeatureRow, HeadTraining, encode_once, feature_probabilities
from attnlab.tuning.movement import check_movement, fingerprints
from attnlab.tuning.tuned import apply_tuning


def run_train(job: str, settings: ClassifySettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from labelled text and leave the run with its record; resumes by itself."""
    need_texts_and_model(settings)
    inputs = Inputs(files_of(settings))
    if done := finished_run(job, settings, place=place, files=inputs.files):
        return done
    with (
        fetched_by_lead(settings),
        open_run(job, settings, inputs, place=place, console=console) as session,
    ):
        _note_substitutions(settings, session)
        texts = read_texts(settings)  # before the model: a mistake in a file costs no download
        # nobody but FineTuning holds the checkpoint: it lets go of what the model has copied
        fine_tuning = FineTuning(settings, _read_model(settings.model, session), texts, session)
        state = train(fine_tuning.task(), settings.training, session)
        fine_tuning.close(state)
        return session.run


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
        self.classifier, self.fresh = new_classifier(
            checkpoint, texts.classes, settings, fills_in=bool(texts.unlabelled)
        )
        self.checkpoint = checkpoint.released()
        model, seed = self.classifier.model, settings.training.seed
        self.tuned = apply_tuning(model, settings.tuning, seed=seed)
        self.rows = _rows(self.classifier, texts)
        self._make_table_whole = self._leave_out_unused_rows()
        self._before = fingerprints(model)
        self._features: dict[str, Sequence[FeatureRow]] = {}

    def _leave_out_unused_rows(self) -> Callable[[], None]:
        """Keep only the tokens that occur, until what is returned is called."""
        owner = self.classifier.model.table_owner()
        if owner is None or self.texts.unlabelled:  # a head that scores every token needs them all
            return lambda: None
        used = CompactEmbedding.of(*self.rows.values())
        whole = used.shrink(owner)
        self.rows = {split: used.renumbered(some) for split, some in self.rows.items()}
        return lambda: used.grow(owner, whole)

    def task(self) -> Classification | HeadTraining:
        """Return what the loop trains."""
        self._say_what_is_trained()
        labelled = labelled_stream(self.rows["train"], self.settings)
        if self.tuned.method == "head" and self.classifier.model.is_cut:
            return self._head_training()
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
            self.session.say(f"{what}: {self.settings.model} has no {', '.join(parts)}")
        self.session.say(self.tuned.describe())

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
            split: encode_once(model, rows, self.session) for split, rows in self.rows.items()
        }
        rows, settings = self._features["train"], self.settings
        size, seed = rows_per_batch(settings.batch_size), settings.training.seed
        stream = Epochs(lambda _: rows, size=size, seed=seed)
        return HeadTraining(model, stream, evaluate=self._evaluate)

    def _answers(self, split: str) -> list[dict[str, Any]]:
        """Predict the classes of a split's texts."""
        examples = self.texts.eval_splits[split]
        if self._features:
            likely = feature_probabilities(self.classifier.model, self._features[split])
            return self.classifier.answers_of(examples, likely)
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
        answers = self._answers("dev")
        accuracy = ACCURACY.score(answers)
        loss = sum(column(answers, "loss")) / len(answers)
        return Evaluation(accuracy, {"dev_accuracy": accuracy, "dev_loss": loss})

    def _close(self, state: TrainingState) -> None:
        run, texts, tuned = self.session.run, self.texts, self.tuned
        movement = check_movement(tuned, self._before, steps=state.best_step or state.step)
        self.session.say(movement.describe())
        if self.settings.tuning.merge:
            tuned.merge()
        with inference(tuned.model, self.session.hardware):
            predictions = {split: self._answers(split) for split in texts.eval_splits}
        self._make_table_whole()
        write_tuned(tuned, self.checkpoint, run.path / MODEL, classes=texts.classes)
        # with one evaluation, after the last step, there was nothing to choose among
        chose = "dev" in self.rows and self.settings.training.evaluate_every > 0
        close_run(
            run,
            predictions,
            splits=texts.splits(),
            train_gold=[example.label for example in texts.train],
            files=[f"{MODEL}/*"],
            classes=list(texts.classes),
            begun_afresh=self.fresh,
            tuning=tuned.method,
            n_trainable=tuned.n_trainable,
            has_pairs=texts.has_pairs,
            dev=_origin_of_dev(texts),
            split_notes=dict(texts.notes),
            **state.summary(),
            chosen_on="dev" if chose else LAST_STEP,
        )


def need_texts_and_model(settings: ClassifySettings) -> None:
    """Refuse to begin without labelled text or a model."""
    need(settings.train, "labelled text, attnlab classify train FILE")
    refuse_unused_share(settings)
    if not settings.model:
        raise UserError(
            "there is no model to fine-tune: give --model FOLDER with config.json, vocab.txt and"
            " model.safetensors, or a model's name; `attnlab assets list` shows those known here."
        )


@contextmanager
def fetched_by_lead(settings: ClassifySettings) -> Iterator[None]:
    """Let one process fetch the datasets; the others wait."""
    with join_processes() as processes:
        processes.from_lead(lambda: fetch_texts(settings))
        yield


def _note_substitutions(settings: ClassifySettings, session: Session) -> None:
    """Write down which names stood for something else when the run began."""
    if found := substituted_among([settings.model, *references(settings).values()]):
        session.resolve_once("substituted", lambda: found)


def _origin_of_dev(texts: ClassifyTexts) -> str:
    return texts.notes.get("dev", "given") if "dev" in texts.eval_splits else "none"


def _read_model(name: str, session: Session) -> EncoderCheckpoint:
    """Find a model and read it; a run resumes only with the model it began with."""
    found = open_checkpoint(Path(session.processes.from_lead(lambda: str(find_model(name)))))
    session.insist("base", found.sha256, what=f"the model {name}")
    record = found.folder.parent / RECORD
    if record.is_file():  # of the run that trained it: its rows count as seen
        session.resolve_once(START_RECORD, lambda: sha256_of(record))
    return found


def _rows(classifier: Classifier, texts: ClassifyTexts) -> dict[str, Sequence[TextRow]]:
    """Cut the texts of every split into tokens."""
    splits = {"train": texts.train, **texts.eval_splits}
    with phase(f"tokenizing {sum(map(len, splits.values())):,} texts"):
        return {
            split: [classifier.row(example) for example in examples]
            for split, examples in splits.items()
        }
