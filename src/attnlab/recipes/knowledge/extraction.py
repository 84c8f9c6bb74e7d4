"""When can a model recall what it read? After Allen-Zhu and Li, Physics of LMs 3.1.

A plain language model reads biographies, then learns from the questions of some people to answer,
and is asked about others. The conditions differ in what is written about the same people, and all
read as many tokens. How to fine-tune is chosen for each condition on held-out training questions;
then test is read once. A linear probe looks for the birthplace in each model that has only read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.choosing import Choice, refuse_without_effect
from attnlab.recipes.knowledge.settings import (
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
)
from attnlab.recipes.knowledge.study_settings import ExtractionSettings, LinearProbeSettings
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome

TITLE = "What lets a model say what it has read?"
NOTES = (
    "The same people, as many tokens read, the same questions. one: one biography per person;"
    " many: several in other words, for everybody; permuted: their sentences in any order;"
    " full-names: the full name in every sentence; with celebrities: several for some people of"
    " train, one for everybody in the evaluation. one-as-views reads the texts of one, not as text"
    " but as salient-span views.",
    "Held-out training questions chose the way of fine-tuning for each condition; test was read"
    " once, afterwards.",
    "Allen-Zhu and Li (2023, arXiv:2309.14316), a GPT-2 and 100,000 people: 9.7 % with one"
    " biography per person, 96.6 % with five in other words and orders; ordinary people 4.4 %"
    " without celebrities among those read about, 86.8 % with them.",
)
FEATURED = "many-permuted"


@dataclass(frozen=True)
class Condition:
    """What is written about people, and how it is read."""

    name: str
    world: WorldSettings
    objective: str = "text"
    seeds: int = 1


def plan(settings: ExtractionSettings, finished: Finished) -> Sequence[Cell]:
    """Pretrain, try the ways of fine-tuning, evaluate the one chosen, and probe; per condition."""
    return [
        cell
        for condition in conditions(settings)
        for cell in (
            *condition_cells(condition, settings, finished),
            _probe_cell(condition, settings, finished),
        )
    ]


def close(settings: ExtractionSettings, finished: Finished) -> StudyOutcome:
    """Compare what was chosen for every condition, and show the probes."""
    found = [(one, choice_of(one, settings, finished)) for one in conditions(settings)]
    compared = [name for _, choice in found for name in choice.evaluated]
    probes = [_probe(one) for one, _ in found]
    featured = [name for one, choice in found if one.name == FEATURED for name in choice.evaluated]
    return StudyOutcome([*compared, *probes], NOTES, (featured or compared)[0])


def conditions(settings: ExtractionSettings) -> list[Condition]:
    """Return how the same people are written about; each comes after the one to compare it with."""
    one = replace(settings.world, celebrities=0.0, order="fixed")
    many = replace(settings.world, celebrities=1.0, order="fixed")
    permuted = replace(many, order="shuffled")
    some = replace(settings.world, celebrities=settings.celebrities, order="shuffled")
    known = (
        Condition("one", one),
        Condition("many", many),
        Condition("many-permuted", permuted),
        Condition("many-permuted-full-names", replace(permuted, full_names=True)),
        Condition("one-permuted", replace(one, order="shuffled")),
        Condition("one-permuted-with-celebrities", some),
        Condition("one-as-views", one, "salient_spans"),
    )
    return [
        replace(one, seeds=settings.seeds if one.name in settings.repeated else 1)
        for one in known
        if one.name in settings.conditions
    ]


def condition_cells(
    condition: Condition, settings: ExtractionSettings, finished: Finished
) -> Iterator[Cell]:
    """Write the biographies, read them, learn to answer, and answer."""
    world, choice = f"{condition.name}-world", choice_of(condition, settings, finished)
    yield Cell(world, "knowledge-world", condition.world)
    for seed, name in choice.pretrained.items():
        reading = PretrainSettings(
            corpus=finished.path(world, CORPUS),
            tokenizer=settings.tokenizer,
            objective=ObjectiveSettings(condition.objective),
            model=settings.model,
            batch_tokens=settings.batch_tokens,
            training=replace(settings.pretraining, seed=seed),
        )
        yield Cell(name, "knowledge-pretrain", reading, (world,))
    yield from choice.cells(finished)


def choice_of(condition: Condition, settings: ExtractionSettings, finished: Finished) -> Choice:
    """Say what is tried on the models of a condition."""
    refuse_without_effect(settings.finetuning, ExtractionSettings().finetuning, "finetuning")
    world, first = f"{condition.name}-world", settings.pretraining.seed
    seeds = range(first, first + condition.seeds)
    told = [f"-seed-{seed}" if len(seeds) > 1 else "" for seed in seeds]
    return Choice(
        condition.name,
        {
            seed: f"{condition.name}-pretrained{suffix}"
            for seed, suffix in zip(seeds, told, strict=True)
        },
        settings.finetunings,
        FinetuneSettings(
            questions=finished.path(world, TRAIN),
            held_out=settings.held_out,
            batch_tokens=settings.question_tokens,
            training=settings.finetuning,
        ),
        asked=finished.path(world, TEST),
        needs=(world,),
    )


def _probe_cell(condition: Condition, settings: ExtractionSettings, finished: Finished) -> Cell:
    """Look for the birthplace in the first model of a condition."""
    world, choice = f"{condition.name}-world", choice_of(condition, settings, finished)
    first = next(iter(choice.pretrained.values()))
    files = (finished.path(world, name) for name in (TRAIN, DEV, TEST))
    probing = LinearProbeSettings(finished.path(first), *files)
    return Cell(_probe(condition), "knowledge-linear-probe", probing, (world, first))


def _probe(condition: Condition) -> str:
    return f"{condition.name}-probe"


EXTRACTION = StudyPlan(TITLE, plan, close)
