"""Evaluation: put the questions of a file to a run's model, or to one of the course's files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from attnlab.data.knowledge_files import Question, read_questions
from attnlab.recipes.closing import close_run
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.calibration import examine
from attnlab.recipes.knowledge.language_model import LanguageModel, check_questions
from attnlab.recipes.knowledge.reader_notes import inherited_warnings
from attnlab.recipes.knowledge.saved import Saved, file_of, open_saved
from attnlab.recipes.knowledge.settings import EvaluateSettings
from attnlab.recipes.knowledge.texts import question_splits
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.recipes.seen_rows import split_named_after
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.session import Session


def run_evaluate(job: str, settings: EvaluateSettings, *, place: RunPlace, console: Console) -> Run:
    """Answer the file's questions; without answers in it there are predictions and no score."""
    need(settings.run and settings.questions, "a run, and a file of questions to ask its model")
    files = {"test": Path(settings.questions)}
    if settings.unseen:
        files["unseen"] = Path(settings.unseen)
    asked = files | {"run": file_of(Path(settings.run))}
    if settings.corpus:
        asked["corpus"] = Path(settings.corpus)
    if done := finished_run(job, settings, place=place, files=asked):
        return done
    eval_splits = {
        split_named_after(path) if name == "test" else name: read_questions(path)
        for name, path in files.items()
    }
    saved = open_saved(
        Path(settings.run),
        corpus=settings.corpus,
        accept_changed_code=settings.accept_changed_code,
    )
    inputs = Inputs(asked, saved.size.attention, saved.run)
    with open_run(job, settings, inputs, place=place, console=console) as session:
        for warning in saved.warnings:
            session.say(f"warning: {warning}")
        session.insist("context", saved.context_sha256(), what=f"what {settings.run} has read")
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
    session.hardware.place(lm.model)
    with inference(lm.model, session.hardware):
        found = examine(
            lm,
            eval_splits,
            saved.context(),
            samples=samples,
            is_lost=bool(saved.lost_corpus),
        )
    close_run(
        session.run,
        found.answers,
        splits=replace(question_splits(eval_splits), source=saved.run),
        warnings=[*saved.warnings, *inherited_warnings(saved.run)],
        confidence=found.confidence,
        file_split=next(iter(eval_splits)),
    )
