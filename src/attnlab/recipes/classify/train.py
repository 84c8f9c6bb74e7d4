"""Fine-tuning: train a pretrained BERT to classify, optionally with masked text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from rich.console import Console

from attnlab.assets.models import find_model
from attnlab.assets.substitutions import substituted_among
from attnlab.data.epochs import Epochs
from attnlab.data.text_batches import TextRow
from attnlab.errors import UserError
from attnlab.evaluation.metrics import ACCURACY
from attnlab.models.activations import Part, activations, need_memory_for_step
from attnlab.models.bert import Layer
from attnlab.models.bert_format import Pretrained, read_bert, write_bert
from attnlab.models.bert_names import TABLE, hub_name
from attnlab.models.classification import Classification
from attnlab.models.compact_embedding import CompactEmbedding
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
from attnlab.recipes.closing import LAST_STEP, close_run
from attnlab.recipes.files import need
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.recipes.seen_rows import START_RECORD
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.files import sha256_of
from attnlab.runs.predictions import Predictions, column
from attnlab.training.distributed import join_processes
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState, train
from attnlab.training.session import Session
from attnlab.training.task import Evaluation, Task


class Learning(Protocol):
    """Something to train, which knows how to close its run."""

    def task(self) -> Task[Any]:
        """Return what the loop trains."""

    def close(self, state: TrainingState) -> None:
        """Answer every split, export the model and close the run."""


def run_train(
    job: str,
    settings: ClassifySettings,
    *,
    place: RunPlace,
    console: Console,
    begin: Callable[[ClassifySettings, Session], Learning] | None = None,
) -> Run:
    """Learn from labelled text and leave the run with its record; resumes by itself.

    ``begin`` makes what is trained: by default our own classifier, in a course a student's.
    """
    need_texts_and_model(settings)
    inputs = Inputs(files_of(settings))
    if done := finished_run(job, settings, place=place, files=inputs.files):
        return done
    with (
        fetched_by_lead(settings),
        open_run(job, settings, inputs, place=place, console=console) as session,
    ):
        _note_substitutions(settings, session)
        learning = (begin or begin_fine_tuning)(settings, session)
        state = train(learning.task(), settings.training, session)
        learning.close(state)
        return session.run


def begin_fine_tuning(settings: ClassifySettings, session: Session) -> "FineTuning":
    """Read the texts, then the model."""
    texts = read_texts(settings)  # before the model: a mistake in a file costs no download
    # nobody but FineTuning holds the checkpoint: it lets go of what the model has copied
    return FineTuning(settings, read_model(settings.model, session), texts, session)


class FineTuning:
    """A classifier, the texts it is trained on, and those it is evaluated on."""

    def __init__(
        self,
        settings: ClassifySettings,
        pretrained: Pretrained,
        texts: ClassifyTexts,
        session: Session,
    ) -> None:
        """Put a classifier on the pretrained body, and cut all texts into tokens."""
        self.settings, self.texts, self.session = settings, texts, session
        check_fits(pretrained, settings, texts)
        self.classifier, self.fresh = new_classifier(
            pretrained,
            texts.classes,
            max_len=settings.max_len,
            fills_in=bool(texts.unlabelled),
            pooler=settings.pooler,
            seed=settings.training.seed,
        )
        self.rows, self.used = _rows(self.classifier, texts)
        # the export puts the rows that were left out back from there
        self.pretrained = pretrained.keeping(TABLE) if self.used else pretrained.keeping()

    def task(self) -> Classification:
        """Return what the loop trains."""
        if self.fresh:
            parts = sorted({hub_name(name).rpartition(".")[0] for name in self.fresh})
            what = "new classifier head" if "classifier" in parts else "new layers"
            self.session.say(f"{what}: {self.settings.model} has no {', '.join(parts)}")
        settings, unlabelled = self.settings, self.texts.unlabelled
        labelled = labelled_stream(self.rows["train"], settings)
        masked = masked_stream(unlabelled, self.classifier.words, settings) if unlabelled else None
        self._need_memory(labelled, masked)
        return Classification(
            self.classifier.model,
            labelled,
            unlabelled=masked,
            alpha=settings.masked.alpha,
            evaluate=self._evaluate,
        )

    def _need_memory(self, labelled: Epochs[TextRow], masked: Epochs[TextRow] | None) -> None:
        """Refuse batches that cannot be trained on in this memory."""
        settings, body = self.settings, self.classifier.model.body
        n_parts = settings.training.accumulate * self.session.processes.size
        part, layer = Part.of(labelled.largest_batch(), n_parts), cast("Layer", body.layers[0])
        # the last layer computes the first token alone
        size = replace(body.size, n_layers=body.size.n_layers - 1)
        count = activations(size, layer.attn, part, vocab_size=0)
        if masked:
            batch = masked.largest_batch()
            n_scored = int(settings.masked.share * sum(map(len, batch)))
            read = Part.of(batch, n_parts, n_scored=n_scored)
            count += activations(body.size, layer.attn, read, vocab_size=body.size.vocab_size)
        setting = f"batch_size = {settings.batch_size}"
        need_memory_for_step(count, part, self.session, setting=setting)

    def close(self, state: TrainingState) -> None:
        """Answer every split, export the model and close the run."""
        self.session.processes.from_lead(lambda: self._close(state))

    def _evaluate(self) -> Evaluation | None:
        """Ask dev; its accuracy chooses the step that is kept."""
        if "dev" not in self.rows:
            return None
        return score_dev(self.classifier.answers(self.texts.eval_splits["dev"], self.rows["dev"]))

    def _close(self, state: TrainingState) -> None:
        run, texts, classifier = self.session.run, self.texts, self.classifier
        with inference(classifier.model, self.session.hardware):
            predictions = {
                split: classifier.answers(examples, self.rows[split])
                for split, examples in texts.eval_splits.items()
            }
        if self.used:
            self.used.grow(classifier.model.body.embeddings, self.pretrained.tensors[TABLE])
        write_bert(classifier.model, self.pretrained, run.path / MODEL, classes=texts.classes)
        close_classification(
            run, texts, predictions, settings=self.settings, state=state, begun_afresh=self.fresh
        )


def score_dev(answers: Predictions) -> Evaluation:
    """Return the accuracy, which chooses the step that is kept, and the mean loss."""
    accuracy = ACCURACY.score(answers)
    loss = sum(column(answers, "loss")) / len(answers)
    return Evaluation(accuracy, {"dev_accuracy": accuracy, "dev_loss": loss})


def close_classification(
    run: Run,
    texts: ClassifyTexts,
    predictions: Mapping[str, Predictions],
    *,
    settings: ClassifySettings,
    state: TrainingState,
    **found: Any,
) -> None:
    """Close the run of a classifier whose model is written; ``found`` goes into the record."""
    # with one evaluation, after the last step, there was nothing to choose among
    chose = "dev" in texts.eval_splits and settings.training.evaluate_every > 0
    close_run(
        run,
        predictions,
        splits=texts.splits(),
        train_gold=[example.label for example in texts.train],
        files=[f"{MODEL}/*"],
        classes=list(texts.classes),
        has_pairs=texts.has_pairs,
        dev=_origin_of_dev(texts),
        split_notes=dict(texts.notes),
        **found,
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


def read_model(name: str, session: Session) -> Pretrained:
    """Find a model and read it; a run resumes only with the model it began with."""
    pretrained = read_bert(Path(session.processes.from_lead(lambda: str(find_model(name)))))
    session.insist("base", pretrained.sha256, what=f"the model {name}")
    record = pretrained.folder.parent / RECORD
    if record.is_file():  # of the run that trained it: its rows count as seen
        session.resolve_once(START_RECORD, lambda: sha256_of(record))
    return pretrained


def _rows(
    classifier: Classifier, texts: ClassifyTexts
) -> tuple[Mapping[str, Sequence[TextRow]], CompactEmbedding | None]:
    """Cut the texts of every split into tokens; also say which rows of the table they need."""
    splits = {"train": texts.train, **texts.eval_splits}
    with phase(f"tokenizing {sum(map(len, splits.values())):,} texts"):
        rows: Mapping[str, Sequence[TextRow]] = {
            split: [classifier.row(example) for example in examples]
            for split, examples in splits.items()
        }
    if texts.unlabelled:
        return rows, None  # a head that scores every token needs the whole table
    used = CompactEmbedding.of(*rows.values())
    used.shrink(classifier.model.body.embeddings)
    return rows, used
