"""Prediction: ask a finished run's classifier about the texts of a file."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from attnlab.attention.settings import AttentionSettings
from attnlab.data.classes import check_labels
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.evaluation.accuracy import score_answers
from attnlab.evaluation.ledger import split_ledger
from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.classify.classifier import Classifier, columns, load_classifier
from attnlab.recipes.classify.settings import PredictSettings
from attnlab.recipes.classify.texts import check_pairs, ledger_row
from attnlab.runs import machine
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.files import sha256_of_files
from attnlab.training.inference import inference
from attnlab.training.session import Session, open_session
from attnlab.training.settings import TrainingSettings

JOB = "classify-predict"


def run_predict(settings: PredictSettings, *, place: RunPlace, console: Console) -> Run:
    """Tell the classes of a file's texts; without labels there are predictions and no score."""
    source, path = Run.open(Path(settings.run)), Path(settings.texts)
    examples = read_labelled(path, columns=settings.columns)
    classifier = load_classifier(source)
    check_labels(examples, classifier.classes)
    check_pairs(examples, has_pairs=source.record["has_pairs"])
    with open_session(JOB, settings, TrainingSettings(), place=place, console=console) as session:
        digests = sha256_of_files({"run": source.path / RECORD, "texts": path})
        session.insist("sha256", digests, what="the classifier or the file of texts")
        if not session.run.finished:
            settle_attention(session, AttentionSettings())
            session.world.from_lead(lambda: _answer(classifier, examples, session))
        return session.run


def _answer(classifier: Classifier, examples: Sequence[Example], session: Session) -> None:
    """Ask, and close the run."""
    run, model = session.run, classifier.model.to(session.hardware.device)
    rows = [classifier.row(example) for example in examples]
    with inference(model, session.hardware):
        answers = classifier.answers(examples, rows)
    run.write_predictions("test", answers)
    labelled = examples[0].label is not None
    gold = [example.label or "" for example in examples]
    scores = {"test": score_answers(*columns(answers), train_gold=gold)} if labelled else {}
    run.finish(
        {
            "job": JOB,
            "scores": scores,
            "test": "asked once",
            "classes": list(classifier.classes),
            "ledger": split_ledger({"test": [ledger_row(e) for e in examples]}, inputs=["text"]),
            "hardware": run.config["resolved"],
            **machine.describe(),
        }
    )
