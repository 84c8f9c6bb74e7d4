"""The baseline every model must beat: always the most common training answer."""

from collections import Counter
from pathlib import Path

from rich.console import Console

from attnlab.data.knowledge_files import Question, read_questions
from attnlab.recipes.closing import close_run
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.settings import MajoritySettings
from attnlab.recipes.knowledge.texts import question_splits
from attnlab.recipes.opening import run_without_training
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.predictions import prediction_row


def run_majority(
    job: str,
    settings: MajoritySettings,
    *,
    place: RunPlace,
    console: Console,  # noqa: ARG001 - every job is run alike
) -> Run:
    """Answer every question alike, and leave the run with its record."""
    need(settings.questions and settings.test, "training questions, and questions to ask")
    files = {"questions": Path(settings.questions), "test": Path(settings.test)}

    def work(run: Run) -> None:
        if run.finished:
            return
        train, test = (read_questions(path, labelled=True) for path in files.values())
        share, answer = _commonest(train)
        answers = [
            prediction_row(q.text, q.text, gold=q.answer, prediction=answer, confidence=share)
            for q in test
        ]
        splits = question_splits({"train": train, "test": test})
        close_run(run, {"test": answers}, splits=splits, train_gold=[q.answer for q in train])

    return run_without_training(job, settings, work, place=place, files=files)


def _commonest(questions: list[Question]) -> tuple[float, str]:
    counts = Counter(question.answer for question in questions if question.answer is not None)
    ((answer, count),) = counts.most_common(1)
    return count / len(questions), answer
