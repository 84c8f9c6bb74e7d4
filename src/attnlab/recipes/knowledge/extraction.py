"""What lets a model say what it has read? After Allen-Zhu and Li, Physics of Language Models 3.1.

A plain language model reads biographies, then learns from the questions of some people to answer,
and is asked about others. The conditions differ in what is written about the same people.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from rich.console import Console

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.finetune import run_finetune
from attnlab.recipes.knowledge.pretrain import run_pretrain
from attnlab.recipes.knowledge.settings import (
    ExtractionSettings,
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
)
from attnlab.recipes.knowledge.world import CORPUS, TEST, TRAIN, write_world
from attnlab.recipes.studying import Studying, open_study
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study

JOB = "knowledge-extraction"
TITLE = "What lets a model say what it has read?"
NOTES = (
    "The same people, as many tokens read, the same questions. one: a single biography a person;"
    " many: several in other words, for everybody; permuted: their sentences in any order; with"
    " celebrities: several for some people of train, one for everybody who is asked about."
    " one-as-views reads the texts of one, not as text but as salient-span views.",
    "Allen-Zhu and Li (2023, arXiv:2309.14316), a GPT-2 and 100,000 people: 9.7 % with one"
    " biography a person, 96.6 % with five in other words and orders; ordinary people 4.4 %"
    " without celebrities among those read about, 86.8 % with them.",
)


@dataclass(frozen=True)
class Condition:
    """One way to write about the same people, and what is learned from it."""

    name: str
    world: WorldSettings
    objective: str = "text"


def run_extraction(settings: ExtractionSettings, *, place: RunPlace, console: Console) -> Study:
    """Pretrain and finetune once a condition, and return the study; goes on by itself."""
    with open_study(JOB, settings, place, title=TITLE, notes=NOTES) as study:
        for condition in conditions(settings):
            folder = study.path / f"{condition.name}-world"
            study.world.from_lead(partial(write_world, condition.world, folder))
            _run(condition, settings, study, console)
            study.take_in(condition.name)
    return Study.open(study.path)


def conditions(settings: ExtractionSettings) -> Iterator[Condition]:
    """Yield the conditions; what each is to be compared with stands before it."""
    one = replace(settings.world, celebrities=0.0, order="fixed")
    many = replace(settings.world, celebrities=1.0, order="fixed")
    yield Condition("one", one)
    yield Condition("many", many)
    yield Condition("many-permuted", replace(many, order="shuffled"))
    yield Condition("one-permuted", replace(one, order="shuffled"))
    some = replace(settings.world, celebrities=settings.celebrities, order="shuffled")
    yield Condition("one-permuted-with-celebrities", some)
    yield Condition("one-as-views", one, "salient_spans")


def _run(
    condition: Condition, settings: ExtractionSettings, study: Studying, console: Console
) -> None:
    """Read the biographies, then learn to answer."""
    folder, pretrained = study.path / f"{condition.name}-world", f"{condition.name}-pretrained"
    reading = PretrainSettings(
        corpus=str(folder / CORPUS),
        vocabulary=settings.vocabulary,
        objective=ObjectiveSettings(condition.objective),
        model=settings.model,
        batch_tokens=settings.batch_tokens,
        training=settings.pretraining,
    )
    run_pretrain(reading, place=study.place(pretrained), console=console)
    answering = FinetuneSettings(
        questions=str(folder / TRAIN),
        start=str(study.path / pretrained),
        test=str(folder / TEST),
        batch_tokens=settings.question_tokens,
        training=settings.finetuning,
    )
    run_finetune(answering, place=study.place(condition.name), console=console)
