"""When can a model recall what it read? After Allen-Zhu and Li, Physics of LMs 3.1.

A plain language model reads biographies, then learns from the questions of some people to answer,
and is asked about others. The conditions differ in what is written about the same people.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.settings import (
    ExtractionSettings,
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
)
from attnlab.recipes.knowledge.world import CORPUS, TEST, TRAIN
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome

TITLE = "What lets a model say what it has read?"
NOTES = (
    "The same people, as many tokens read, the same questions. one: one biography per person;"
    " many: several in other words, for everybody; permuted: their sentences in any order; with"
    " celebrities: several for some people of train, one for everybody in the evaluation."
    " one-as-views reads the texts of one, not as text but as salient-span views.",
    "Allen-Zhu and Li (2023, arXiv:2309.14316), a GPT-2 and 100,000 people: 9.7 % with one"
    " biography per person, 96.6 % with five in other words and orders; ordinary people 4.4 %"
    " without celebrities among those read about, 86.8 % with them.",
)


def plan(settings: ExtractionSettings, finished: Finished) -> Sequence[Cell]:
    """Pretrain and fine-tune once per condition."""
    return [cell for name in conditions(settings) for cell in _cells(name, settings, finished)]


def close(settings: ExtractionSettings, finished: Finished) -> StudyOutcome:  # noqa: ARG001
    """Compare the fine-tuned models of all conditions."""
    return StudyOutcome(list(conditions(settings)), notes=NOTES, featured="many-permuted")


def conditions(settings: ExtractionSettings) -> dict[str, tuple[WorldSettings, str]]:
    """Return by name how the same people are written about, and the objective that reads it.

    Each condition comes after the one that it is to be compared with.
    """
    one = replace(settings.world, celebrities=0.0, order="fixed")
    many = replace(settings.world, celebrities=1.0, order="fixed")
    some = replace(settings.world, celebrities=settings.celebrities, order="shuffled")
    return {
        "one": (one, "text"),
        "many": (many, "text"),
        "many-permuted": (replace(many, order="shuffled"), "text"),
        "one-permuted": (replace(one, order="shuffled"), "text"),
        "one-permuted-with-celebrities": (some, "text"),
        "one-as-views": (one, "salient_spans"),
    }


def _cells(name: str, settings: ExtractionSettings, finished: Finished) -> Iterator[Cell]:
    """Write the biographies, read them, then learn to answer."""
    world_settings, objective = conditions(settings)[name]
    world, pretrained = f"{name}-world", f"{name}-pretrained"
    reading = PretrainSettings(
        corpus=finished.path(world, CORPUS),
        tokenizer=settings.tokenizer,
        objective=ObjectiveSettings(objective),
        model=settings.model,
        batch_tokens=settings.batch_tokens,
        training=settings.pretraining,
    )
    answering = FinetuneSettings(
        questions=finished.path(world, TRAIN),
        start=finished.path(pretrained),
        test=finished.path(world, TEST),
        batch_tokens=settings.question_tokens,
        training=settings.finetuning,
    )
    yield Cell(world, "knowledge-world", world_settings)
    yield Cell(pretrained, "knowledge-pretrain", reading, (world,))
    yield Cell(name, "knowledge-finetune", answering, (world, pretrained))


EXTRACTION = StudyPlan(TITLE, plan, close)
