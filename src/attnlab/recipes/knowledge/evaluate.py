"""Evaluation: put the questions of a file to a run's model, or to one of the course's files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from attnlab.data.knowledge_files import Question, read_questions
from attnlab.recipes.closing import close_run
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.calibration import examine
from attnlab.recipes.knowledge.language_model import LanguageModel, check_questions
from attnlab.recipes.knowledge.saved import Saved, open_saved
from attnlab.recipes.knowledge.settings import EvaluateSettings
from attnlab.recipes.knowledge.texts import question_splits
from attnlab.recipes.opening import open_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.session import Session


def run_evaluate(job: str, settings: EvaluateSettings, *, place: RunPlace, console: Console) -> Run:
    """Answer the file's questions; without answers in it there are predictions and no score."""
    need(settings.run and settings.questions, "a run, and a file of questions to ask its model")
    files = {"test": Path(settings.questions)}
    if settings.unseen:
        files["unseen"] = Path(settings.unseen)
    eval_splits = {split: read_questions(path) for split, path in files.items()}
    saved = open_saved(Path(settings.run), corpus=settings.corpus)
    with open_run(
        job,
        settings,
        place=place,
        console=console,
        files=files | {"run": saved.file},
        attention=saved.size.attention,
        source=saved.run,
    ) as session:
        session.insist("context", saved.context_sha256(), what=f"what {settings.run} has read")
        if not session.run.finished:
            lm = saved.load()
            for questions in eval_splits.values():
                check_questions(lm, questions)
            session.processes.from_lead(
                lambda: _answer(lm, saved, eval_splits, session, samples=settings.samples)
            )
        return session.run


def _answer(
    lm: LanguageModel,
    saved: Saved,
    eval_splits: Mapping[str, Sequence[Question]],
    session: Session,
    *,
    samples: int,
) -> None:
    """Ask, and close the run."""
    lm.model.to(session.hardware.device)
    with inference(lm.model, session.hardware):
        found = examine(
            lm, eval_splits, samples=samples, corpus=saved.corpus, calibration=saved.calibration
        )
    splits = question_splits(eval_splits)
    close_run(session.run, found.answers, splits=splits, confidence=found.confidence)
