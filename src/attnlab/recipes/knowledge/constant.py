"""The baseline that every model must beat: the commonest training answer, whatever is asked."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from attnlab.config import to_dict
from attnlab.data.knowledge_files import Question, read_questions
from attnlab.recipes.knowledge.lesson import score
from attnlab.recipes.knowledge.texts import Texts
from attnlab.runs import machine
from attnlab.runs.directory import Run, RunPlace

JOB = "knowledge-constant"


@dataclass(frozen=True)
class ConstantSettings:
    """What the constant answer is taken from, and who is asked."""

    questions: str
    """File of training questions."""
    test: str
    """File of questions to ask."""


def run_constant(settings: ConstantSettings, *, place: RunPlace) -> Run:
    """Answer every question alike, and leave the run with its record."""
    with Run.begin(JOB, to_dict(settings), place) as run:
        if not run.finished:
            train = read_questions(Path(settings.questions), labelled=True)
            test = read_questions(Path(settings.test), labelled=True)
            share, answer = _commonest(train)
            answers = [
                {
                    "id": question.text,
                    "question": question.text,
                    "gold": question.answer,
                    "prediction": answer,
                    "confidence": share,
                }
                for question in test
            ]
            run.write_predictions("test", answers)
            run.finish(
                {
                    "job": JOB,
                    "scores": {"test": score(answers, train)},
                    "ledger": Texts([], train, {"test": test}, {}).ledger(),
                    **machine.describe(),
                }
            )
    return run


def _commonest(questions: list[Question]) -> tuple[float, str]:
    counts = Counter(question.answer for question in questions if question.answer is not None)
    ((answer, count),) = counts.most_common(1)
    return count / len(questions), answer
