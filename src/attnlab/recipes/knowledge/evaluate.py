"""Evaluation: ask a finished run's model, or one of the course's files, the questions of a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from attnlab.data.knowledge_files import Question, read_questions
from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.knowledge.doubt import examine
from attnlab.recipes.knowledge.learner import Learner, check_questions
from attnlab.recipes.knowledge.lesson import scores_of
from attnlab.recipes.knowledge.saved import Saved, open_saved
from attnlab.recipes.knowledge.settings import EvaluateSettings
from attnlab.recipes.knowledge.texts import Texts
from attnlab.runs import machine
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import sha256_of_files
from attnlab.training.inference import inference
from attnlab.training.session import Session, open_session
from attnlab.training.settings import TrainingSettings

JOB = "knowledge-evaluate"


def run_evaluate(settings: EvaluateSettings, *, place: RunPlace, console: Console) -> Run:
    """Answer the file's questions; without answers in it there are predictions and no score."""
    files = {"test": Path(settings.questions)}
    if settings.unseen:
        files["unseen"] = Path(settings.unseen)
    asked = {split: read_questions(path) for split, path in files.items()}
    saved = open_saved(Path(settings.run), corpus=settings.corpus)
    with open_session(JOB, settings, TrainingSettings(), place=place, console=console) as session:
        digests = sha256_of_files(files) | {
            "run": saved.sha256,
            "context": saved.context_sha256(),
        }
        session.insist("sha256", digests, what="the model or a file of questions")
        if not session.run.finished:
            learner = saved.load()
            settle_attention(session, learner.size.attention)
            for questions in asked.values():
                check_questions(learner, questions)
            session.world.from_lead(lambda: _answer(learner, saved, asked, session))
        return session.run


def _answer(
    learner: Learner, saved: Saved, asked: Mapping[str, Sequence[Question]], session: Session
) -> None:
    """Ask, and close the run."""
    config = session.run.config
    learner.model.to(session.hardware.device)
    with inference(learner.model, session.hardware):
        found = examine(
            learner,
            asked,
            samples=config["settings"]["samples"],
            corpus=saved.corpus,
            calibration=saved.calibration,
        )
    for split, answers in found.answers.items():
        session.run.write_predictions(split, answers)
    session.run.finish(
        {
            "job": JOB,
            "scores": scores_of(found.answers, train=[]),
            "confidence": found.confidence,
            "ledger": Texts([], [], asked, {}).ledger(),
            "sha256": config["resolved"]["sha256"],
            "hardware": config["resolved"],
            **machine.describe(),
        }
    )
