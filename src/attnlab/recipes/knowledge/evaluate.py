"""Evaluation: ask a finished run's model the questions of a file."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from attnlab.data.knowledge_files import Question, read_questions
from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.knowledge.learner import (
    Learner,
    check_questions,
    load_learner,
    saved_size,
)
from attnlab.recipes.knowledge.lesson import score
from attnlab.recipes.knowledge.settings import EvaluateSettings
from attnlab.recipes.knowledge.texts import Texts, sha256_of
from attnlab.runs import machine
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.session import Session, open_session
from attnlab.training.settings import TrainingSettings

JOB = "knowledge-evaluate"
SPLIT = "test"


def run_evaluate(settings: EvaluateSettings, *, place: RunPlace, console: Console) -> Run:
    """Answer the file's questions; without answers in it there are predictions and no score."""
    path, asked = Path(settings.questions), Run.open(Path(settings.run))
    questions, size = read_questions(path), saved_size(asked)
    with open_session(JOB, settings, TrainingSettings(), place=place, console=console) as session:
        digests = {"questions": sha256_of(path), "run": sha256_of(asked.path / RECORD)}
        session.insist("sha256", digests, what="the model or the file of questions")
        if not session.run.finished:
            settle_attention(session, size.attention)
            learner = load_learner(asked)
            check_questions(learner, questions)
            session.world.from_lead(lambda: _answer(learner, questions, session, digests))
        return session.run


def _answer(
    learner: Learner, questions: Sequence[Question], session: Session, digests: dict[str, str]
) -> None:
    """Ask, and close the run."""
    learner.model.to(session.hardware.device)
    with inference(learner.model, session.hardware):
        answers = learner.ask(questions)
    session.run.write_predictions(SPLIT, answers)
    labelled = questions[0].answer is not None
    session.run.finish(
        {
            "job": JOB,
            "scores": {SPLIT: score(answers, train=[])} if labelled else {},
            "ledger": Texts([], [], {SPLIT: questions}, {}).ledger(),
            "sha256": digests,
            "hardware": session.run.config["resolved"],
            **machine.describe(),
        }
    )
