"""Trains any classifier on any Dataset; if it is stopped, the same command resumes it.

A model takes ``(input_ids, attention_mask, token_type_ids, labels)`` and returns ``(mean loss,
logits)``; without labels, the logits alone or last. The joint model's ``masked`` takes and returns
the same for masked tokens. batches.py says what a Dataset gives.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from batches import MaskedText, MlmInputs, attention_mask, stream_of, text_row, unlabelled_row
from torch import Tensor, nn

from attnlab.cli.course import hash_of_code
from attnlab.data.dataset_items import seed_everything
from attnlab.data.epochs import Epochs
from attnlab.data.labelled_text import Example
from attnlab.data.text_batches import JointBatch, TextRow, collate_texts
from attnlab.errors import UserError
from attnlab.models.activations import Part, activations, need_memory_for_step
from attnlab.models.bert import Bert
from attnlab.models.bert_format import CONFIG
from attnlab.models.classification import CLASSES, MASKED
from attnlab.models.compact_embedding import leave_out_unused
from attnlab.phases import messages, phase
from attnlab.randomness import seed_torch
from attnlab.recipes.classify.classifier import answers_of, check_fits
from attnlab.recipes.classify.closing import close_classification, score_dev
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.texts import ClassifyTexts
from attnlab.recipes.classify.train import read_model
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import read_json, replace_file, to_json
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.session import Session
from attnlab.training.task import Evaluation, Term

JOB, FOLDER = "classify-train", Path(__file__).parent
TRIED = 8
"""Texts that are tried before training, and parts of a batch, of which one is tried."""
CODE = "code"
"""Where a run keeps the hash of the files that trained it."""


class Assignment(Protocol):
    """What a command trains: all of it comes from the files beside it."""

    model_folder: str
    """Where the pretrained model was found: known once the texts are read."""

    def read_texts(self) -> ClassifyTexts:
        """Read the labelled texts, and the lines of unlabelled text."""

    def load_model(self, n_classes: int) -> nn.Module:
        """Read the pretrained model."""

    def features(self, examples: Sequence[Example], classes: Sequence[str]) -> Any:
        """Return the Dataset of some labelled texts."""

    def unlabelled(self) -> tuple[Any, MlmInputs] | None:
        """Return the Dataset of the unlabelled text and what masks its rows, or None."""


def train_model(assignment: Assignment, settings: ClassifySettings, *, place: RunPlace) -> Run:
    """Train to the end or go on; the best model on dev and its answers are in the run."""
    return find_job(JOB).run(
        settings, place=place, console=messages(), begin=partial(CourseTraining, assignment)
    )


class CourseTraining:
    """A model of the course with its texts; implements ``recipes.classify.train.Learning``."""

    def __init__(
        self, assignment: Assignment, settings: ClassifySettings, session: Session
    ) -> None:
        self.assignment, self.settings, self.session = assignment, settings, session
        session.insist(CODE, hash_of_code(FOLDER), what=f"the code in {FOLDER}")
        self.texts = texts = assignment.read_texts()
        pretrained = read_model(settings.model, session)
        check_fits(pretrained, settings, texts)
        assignment.model_folder = str(pretrained.folder)
        seed_torch(settings.training.seed, "weights")
        self.model = assignment.load_model(len(texts.classes))
        _need_methods(self.model, ["save_pretrained", *(["masked"] if texts.unlabelled else [])])
        splits = {"train": texts.train, **texts.eval_splits}
        with phase(f"tokenizing {sum(map(len, splits.values())):,} texts"):
            self.datasets = {
                split: _checked(assignment.features(examples, texts.classes), examples, split)
                for split, examples in splits.items()
            }
        self.rows = {split: self._rows(split) for split in texts.eval_splits}
        self._make_table_whole: Callable[[], None] = lambda: None

    def _rows(self, split: str) -> Sequence[TextRow]:
        dataset = self.datasets[split]
        if hasattr(dataset, "epoch_rows"):
            rows: Sequence[TextRow] = dataset.epoch_rows(0, self.settings.training.seed)
            return rows
        seed_everything(self.settings.training.seed, split)  # whatever the Dataset draws from
        return [text_row(dataset[i], f"{split} item {i}") for i in range(len(dataset))]

    def task(self) -> "CourseTask":
        """Return what the loop trains."""
        settings, given = self.settings, self.assignment.unlabelled()
        labelled = stream_of(self.datasets["train"], text_row, settings)
        masked = None
        if given:
            dataset, mlm_inputs = given
            rows = stream_of(dataset, unlabelled_row, settings, "order of unlabelled text")
            masked = MaskedText(rows, mlm_inputs, settings.training.seed)
        elif isinstance(labelled, Epochs):
            self._leave_out_unused_tokens(labelled)
        self._need_memory(labelled, masked)
        task = CourseTask(
            self.model,
            labelled,
            masked=masked,
            alpha=settings.masked.alpha,
            evaluate=lambda: score_dev(self._answers("dev")),
        )
        self._try(task)
        return task

    def _try(self, task: "CourseTask") -> None:
        """Call everything once on a few texts: a mistake in the code leaves no run behind."""
        with torch.no_grad():
            task.loss(task.batch(1).part(0, TRIED))
            self._answers("dev", 1)

    def close(self, state: TrainingState) -> None:
        """Answer every split, write the model and close the run."""
        self.session.processes.from_lead(lambda: self._close(state))

    def _close(self, state: TrainingState) -> None:
        run, texts = self.session.run, self.texts
        with inference(self.model, self.session.hardware):
            predictions = {split: self._answers(split) for split in texts.eval_splits}
        self._make_table_whole()
        self.model.save_pretrained(str(run.path / MODEL))  # type: ignore[operator]
        _name_classes(run.path / MODEL / CONFIG, texts.classes)
        close_classification(run, texts, predictions, settings=self.settings, state=state)

    def _answers(self, split: str, n_texts: int | None = None) -> list[dict[str, Any]]:
        examples, rows = self.texts.eval_splits[split][:n_texts], self.rows[split][:n_texts]
        return answers_of(Scorer(self.model), examples, rows, classes=self.texts.classes)

    def _leave_out_unused_tokens(self, labelled: Epochs[TextRow]) -> None:
        """Train only the rows of the table that some text needs, if the table is our own."""
        body, first = _body_of(self.model), labelled.rows(0)
        if body is None or first != labelled.rows(1):  # another epoch may bring other tokens
            return
        before = self._some_answers()
        make_whole = leave_out_unused(body.embeddings, first, *self.rows.values())
        if self._some_answers() == before:
            self._make_table_whole = make_whole
        else:  # the student's code reads the table in a way of its own
            make_whole()

    def _some_answers(self) -> list[dict[str, Any]] | None:
        with inference(self.model, self.session.hardware):
            try:
                return self._answers("dev", TRIED)
            except IndexError:  # a row that was left out
                return None

    def _need_memory(self, labelled: Any, masked: MaskedText | None) -> None:
        """Refuse batches that cannot be trained on in this memory, as far as they are known."""
        body, session = _body_of(self.model), self.session
        if body is None or not isinstance(labelled, Epochs):
            return
        n_parts = self.settings.training.accumulate * session.processes.size
        part = Part.of(labelled.largest_batch(), n_parts)
        attention: Any = body.layers[0]
        count = activations(body.size, attention.attn, part, vocab_size=0)
        if masked and isinstance(masked.rows, Epochs):
            read = Part.of(masked.rows.largest_batch(), n_parts)
            count += activations(body.size, attention.attn, read, vocab_size=0)
        setting = f"batch_size = {self.settings.batch_size}"
        need_memory_for_step(count, part, session, setting=setting)


class CourseTask:
    """A model and its texts by step; implements ``attnlab.training.task.Task``.

    The loss is ``classification + alpha · masked``. A stream that is shorter begins again.
    """

    def __init__(
        self,
        model: nn.Module,
        labelled: Any,
        *,
        masked: MaskedText | None,
        alpha: float,
        evaluate: Callable[[], Evaluation],
    ) -> None:
        self.model, self.alpha = model, alpha
        self._labelled, self._masked = labelled, masked
        self.evaluate, self.steps_in = evaluate, labelled.steps_in

    def batch(self, step: int) -> JointBatch:
        """Return the batch of a step, counted from 1."""
        streams = {CLASSES: collate_texts(self._labelled.rows_of_step(step))}
        if self._masked:
            streams[MASKED] = self._masked.batch(step)
        return JointBatch(streams)

    def loss(self, part: JointBatch) -> Mapping[str, Term]:
        """Let the model compute its mean losses, and turn them into sums."""
        terms = {}
        labelled, masked = (part.streams.get(name) for name in (CLASSES, MASKED))
        if labelled and labelled.weight:
            inputs = labelled.tokens, attention_mask(labelled.tokens, labelled.padding)
            mean, _ = self.model(*inputs, labelled.types, labelled.targets[:, 0])
            terms[CLASSES] = Term(mean * labelled.weight, labelled.weight)
        if masked and masked.weight:
            inputs = masked.tokens, attention_mask(masked.tokens, masked.padding)
            mean, _ = self.model.masked(*inputs, masked.types, masked.targets)  # type: ignore[operator]
            terms[MASKED] = Term(mean * masked.weight, masked.weight, self.alpha)
        return terms

    def parameter_groups(self) -> ParameterGroups:
        """The classifier belongs with the embeddings: it is no matrix inside the model."""
        names = [name for name, _ in self.model.named_parameters()]
        heads = [name for name in names if f".{name}".endswith(".classifier.weight")]
        return ParameterGroups.of(self.model, embeddings=heads)


class Scorer(nn.Module):
    """A model of the course as attnlab asks one: token types before the mask, and the logits."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, types: Tensor, padding: Tensor | None) -> Tensor:
        """Return the scores of the classes."""
        found = self.model(tokens, attention_mask(tokens, padding), types)
        logits: Tensor = found if isinstance(found, Tensor) else found[-1]
        return logits


def _checked(dataset: Any, examples: Sequence[Example], split: str) -> Any:
    if len(dataset) != len(examples):
        raise UserError(
            f"convert_examples_to_features made {len(dataset)} items of the {len(examples)} texts"
            f" of {split}: it must make one per text, in their order."
        )
    return dataset


def _need_methods(model: nn.Module, names: Sequence[str]) -> None:
    for name in names:
        if not hasattr(model, name):
            raise UserError(
                f"{type(model).__name__} has no method {name!r}, which training needs. Write it in"
                " mymodel.py."
            )


def _body_of(model: nn.Module) -> Bert | None:
    """Return the body of a model if it is attnlab's, and nothing else uses its table."""
    bodies = [module for module in model.modules() if isinstance(module, Bert)]
    if len(bodies) != 1:
        return None
    table = bodies[0].embeddings.words.weight
    all_names = model.named_parameters(remove_duplicate=False)
    return bodies[0] if sum(value is table for _, value in all_names) == 1 else None


def _name_classes(path: Path, classes: Sequence[str]) -> None:
    """Write the classes' names into a model's config.json, where whoever reads it looks for them."""
    if path.is_file():
        config = read_json(path)
        config["id2label"] = {str(i): name for i, name in enumerate(classes)}
        config["label2id"] = {name: i for i, name in enumerate(classes)}
        replace_file(path, to_json(config))
