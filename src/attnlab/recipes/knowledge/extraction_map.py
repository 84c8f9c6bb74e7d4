"""Accuracy over people and biographies: how many of each does a model need to say what it read?

Every field is the condition many-permuted of the extraction study, at another size. As much is read
about each person everywhere, so that more biographies mean fewer readings of each.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from attnlab.recipes.knowledge.extraction import Condition, choice_of, condition_cells
from attnlab.recipes.knowledge.study_settings import ExtractionMapSettings, ExtractionSettings
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome

TITLE = "How many people, and how many biographies of each?"
NOTES = (
    "Sentences stand in any order. As many tokens are read about each person in every field, so"
    " that more people also mean more steps. The fields have different people, so their scores are"
    " not compared by paired tests.",
)


def plan(settings: ExtractionMapSettings, finished: Finished) -> Sequence[Cell]:
    """Pretrain, fine-tune and evaluate at every size."""
    return [
        cell
        for condition, sized in fields(settings)
        for cell in condition_cells(condition, sized, finished)
    ]


def close(settings: ExtractionMapSettings, finished: Finished) -> StudyOutcome:
    """Show what was chosen at every size."""
    shown = [
        name
        for condition, sized in fields(settings)
        for name in choice_of(condition, sized, finished).evaluated
    ]
    return StudyOutcome(shown, NOTES)


def fields(settings: ExtractionMapSettings) -> list[tuple[Condition, ExtractionSettings]]:
    """Return the world of every field, and the settings that give it its share of reading."""
    found = []
    for people, biographies in product(settings.people, settings.biographies):
        world = replace(
            settings.base.world,
            people=people,
            biographies=biographies,
            celebrities=1.0,
            order="shuffled",
        )
        length = f"{people * settings.tokens_per_person} tokens"
        reading = replace(settings.base.pretraining, length=length)
        name = f"people-{people}-biographies-{biographies}"
        found.append((Condition(name, world), replace(settings.base, pretraining=reading)))
    return found


EXTRACTION_MAP = StudyPlan(TITLE, plan, close)
