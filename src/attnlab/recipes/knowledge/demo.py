"""The demo: four ways to answer where made-up people were born, compared.

The people of test never had their question in training; views of their biographies favour what a
reader, trained on the questions of other people, takes for the answer. Who guesses, or learns from
questions alone, cannot know; who has read their biographies may have remembered. About some people
nothing is written: what is said of them is made up, and shows what confidence is worth.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attnlab.attention.settings import AttentionSettings
from attnlab.recipes.knowledge.settings import (
    DemoSettings,
    FinetuneSettings,
    MajoritySettings,
    PretrainSettings,
)
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN, UNSEEN
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome

TITLE = "Where were they born? Guessing, questions alone, and two models that have read about them"
WORLD = "world"
COMPARED = ("majority", "questions-alone", "recall", "synthesizer")


def plan(settings: DemoSettings, finished: Finished) -> Sequence[Cell]:
    """Make a world; then guess, learn from its questions alone, and read about its people."""
    corpus, train, dev, test, unseen = (
        finished.path(WORLD, name) for name in (CORPUS, TRAIN, DEV, TEST, UNSEEN)
    )
    common: dict[str, Any] = {
        "questions": train,
        "corpus": corpus,
        "dev": dev,
        "test": test,
        "held_out": settings.held_out,
        "model": settings.model,
        "batch_tokens": settings.batch_tokens,
    }
    alone = replace(settings.training, length=settings.questions_length)
    reading = PretrainSettings(**common, training=settings.training)
    unseen = unseen if settings.world.unwritten else ""
    recall = replace(reading, unseen=unseen, samples=settings.samples)
    model = replace(settings.model, attention=AttentionSettings("synthesizer"))
    needs = (WORLD,)
    return [
        Cell(WORLD, "knowledge-world", settings.world),
        Cell("majority", "knowledge-majority", MajoritySettings(train, test), needs),
        Cell(
            "questions-alone",
            "knowledge-finetune",
            FinetuneSettings(**common, training=alone),
            needs,
        ),
        Cell("recall", "knowledge-pretrain", recall, needs),
        Cell("synthesizer", "knowledge-pretrain", replace(reading, model=model), needs),
    ]


def close(settings: DemoSettings, finished: Finished) -> StudyOutcome:  # noqa: ARG001
    """Compare all four, and show what the one with attention answers."""
    return StudyOutcome(COMPARED, featured="recall")


DEMO = StudyPlan(TITLE, plan, close)
