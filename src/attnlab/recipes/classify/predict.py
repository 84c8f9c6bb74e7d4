"""Prediction: classify the texts of a file with a finished run's model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from attnlab.assets.datasets import dataset_file, get_dataset
from attnlab.data.classes import check_labels
from attnlab.data.header import NAMES
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.recipes.classify.classifier import Classifier, load_classifier
from attnlab.recipes.classify.settings import PredictSettings
from attnlab.recipes.classify.texts import check_pairs, column_names, text_splits
from attnlab.recipes.closing import close_run
from attnlab.recipes.files import need
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.recipes.seen_rows import split_named_after
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.session import Session


def run_predict(job: str, settings: PredictSettings, *, place: RunPlace, console: Console) -> Run:
    """Tell the classes of a file's texts; without labels there are predictions and no score."""
    need(
        settings.run and settings.texts,
        "a run, and a file of texts to classify, --text TEXT, or - for standard input",
    )
    path = dataset_file(settings.texts, "dev")
    files = {"run": Path(settings.run) / RECORD, "texts": path}
    if done := finished_run(job, settings, place=place, files=files):
        return done
    source = Run.open(Path(settings.run))
    get_dataset(settings.texts)
    named = column_names(settings) or ({} if settings.columns else _names_in_training(source))
    examples = read_labelled(path, columns=settings.columns, named=named)
    classifier = load_classifier(source)
    check_labels(examples, classifier.classes)
    check_pairs(examples, has_pairs=source.recorded("has_pairs"))
    inputs = Inputs(files, source=source)
    with open_run(job, settings, inputs, place=place, console=console) as session:
        split = {split_named_after(path): examples}
        session.processes.from_lead(lambda: _answer(classifier, split, session, source=source))
        return session.run


def _names_in_training(source: Run) -> dict[str, str]:
    """Return what the files that a run has learned from call text, label and pair."""
    given = source.config["settings"]
    return {field: name for field in NAMES if (name := given.get(f"{field}_column"))}


def _answer(
    classifier: Classifier, split: Mapping[str, Sequence[Example]], session: Session, *, source: Run
) -> None:
    """Ask about the one split there is, and close the run."""
    ((name, examples),) = split.items()
    session.hardware.place(classifier.model)
    rows = [classifier.row(example) for example in examples]
    with inference(classifier.model, session.hardware):
        answers = classifier.answers(examples, rows)
    splits = text_splits(split, has_pairs=examples[0].pair is not None)
    close_run(
        session.run,
        {name: answers},
        splits=replace(splits, source=source),
        classes=list(classifier.classes),
        file_split=name,
    )
