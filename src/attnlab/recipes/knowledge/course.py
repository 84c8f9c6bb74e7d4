"""The knowledge course's own model: read, fine-tune as held-out questions choose, answer dev.

Model, characters, span corruption and questions are the course's; optimizer, length, batch and
fine-tuning are ours. Dev is asked once, at the end, and chooses nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.errors import UserError
from attnlab.models.sizes import COURSE_VARIANTS
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.choosing import Choice, refuse_without_effect
from attnlab.recipes.knowledge.settings import MajoritySettings
from attnlab.recipes.knowledge.study_settings import CourseSettings
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome

TITLE = "The knowledge course's model"
NOTES = (
    "Held-out training questions chose the way of fine-tuning; dev was asked once, afterwards."
    " Perfect recall of the course's corpus would score 95.8 % of its dev.",
)
MAJORITY = "majority"


def plan(settings: CourseSettings, finished: Finished) -> Sequence[Cell]:
    """Read the corpus, try the ways of fine-tuning, and ask dev with the one chosen."""
    _check(settings)
    choice = _choice(settings)
    model = replace(settings.base.model, attention=COURSE_VARIANTS[settings.variant])
    (pretrained,) = choice.pretrained.values()
    majority = MajoritySettings(settings.questions, settings.dev)
    return [
        Cell(MAJORITY, "knowledge-majority", majority),
        Cell(pretrained, "knowledge-pretrain", replace(settings.base, model=model)),
        *choice.cells(finished),
    ]


def close(settings: CourseSettings, finished: Finished) -> StudyOutcome:  # noqa: ARG001
    """Compare the model with always giving the most common answer."""
    evaluated = _choice(settings).evaluated
    return StudyOutcome([MAJORITY, *evaluated], NOTES, evaluated[0])


def _choice(settings: CourseSettings) -> Choice:
    variant = settings.variant
    return Choice(
        variant,
        {settings.base.training.seed: f"{variant}-pretrained"},
        settings.finetunings,
        replace(settings.finetuning, questions=settings.questions, held_out=settings.held_out),
        asked=settings.dev,
    )


def _check(settings: CourseSettings) -> None:
    """Refuse now what would fail late, or would let the model see what chooses."""
    need(settings.base.corpus, "a corpus to read: attnlab knowledge course CORPUS")
    need(settings.questions, "training questions: --questions FILE")
    need(settings.dev, "questions to ask at the end: --dev FILE")
    given, usual = settings.finetuning.training, CourseSettings().finetuning.training
    refuse_without_effect(given, usual, "finetuning.training")
    if settings.base.questions:
        raise UserError(
            f"base.questions = {settings.base.questions} would train on the questions that are held"
            " out to choose on. Leave it empty; --questions gives the training questions."
        )


COURSE = StudyPlan(TITLE, plan, close)
