"""Prediction: classify the texts of a file with a finished run's model."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from attnlab.attention.settings import AttentionSettings
from attnlab.data.classes import check_labels
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.recipes.classify.classifier import Classifier, load_classifier
from attnlab.recipes.classify.settings import PredictSettings
from attnlab.recipes.classify.texts import check_pairs, text_splits
from attnlab.recipes.closing import close_run
from attnlab.recipes.files import need
from attnlab.recipes.opening import open_run
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.session import Session


def run_predict(job: str, settings: PredictSettings, *, place: RunPlace, console: Console) -> Run:
    """Tell the classes of a file's texts; without labels there are predictions and no score."""
    need(settings.run and settings.texts, "a run, and a file of texts to ask its classifier about")
    source, path = Run.open(Path(settings.run)), Path(settings.texts)
    examples = read_labelled(path, columns=settings.columns)
    classifier = load_classifier(source)
    check_labels(examples, classifier.classes)
    check_pairs(examples, has_pairs=source.record["has_pairs"])
    with open_run(
        job,
        settings,
        place=place,
        console=console,
        files={"run": source.path / RECORD, "texts": path},
        attention=AttentionSettings(),
        source=source,
    ) as session:
        if not session.run.finished:
            session.processes.from_lead(lambda: _answer(classifier, examples, session))
        return session.run


def _answer(classifier: Classifier, examples: Sequence[Example], session: Session) -> None:
    """Ask, and close the run."""
    model = classifier.model.to(session.hardware.device)
    rows = [classifier.row(example) for example in examples]
    with inference(model, session.hardware):
        answers = classifier.answers(examples, rows)
    splits = text_splits({"test": examples}, has_pairs=examples[0].pair is not None)
    classes = list(classifier.classes)
    close_run(session.run, {"test": answers}, splits=splits, classes=classes)
