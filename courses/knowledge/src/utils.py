"""Counts how many birthplaces are right."""

from collections.abc import Sequence
from pathlib import Path

from attnlab.data.knowledge_files import read_questions
from attnlab.errors import UserError


def evaluate_places(filepath: str | Path, predicted_places: Sequence[str]) -> tuple[float, float]:
    """Return how many places a file of questions asks for, and how many predictions are right.

    A file without answers, such as the test set's, gives (0, 0).
    """
    answers = [question.answer for question in read_questions(Path(filepath))]
    if None in answers:
        print(f"{filepath} holds no answers: nothing to compare with, (0, 0).")
        return 0.0, 0.0
    if len(predicted_places) != len(answers):
        raise UserError(
            f"{filepath} has {len(answers)} questions, but there are {len(predicted_places)}"
            " predictions: give one for each, in their order."
        )
    pairs = zip(answers, predicted_places, strict=True)
    right = sum(answer is not None and answer.strip() == place for answer, place in pairs)
    return float(len(answers)), float(right)
