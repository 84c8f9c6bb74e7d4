"""The first minutes: four ways to answer where made-up people were born, side by side.

The people of test never had their question in training. Who guesses, or learns from questions
alone, cannot know; who has read their biographies may have remembered. About some people nothing is
written: what is said of them is made up, and shows what confidence is worth.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.attention.settings import AttentionSettings
from attnlab.recipes.knowledge.constant import ConstantSettings, run_constant
from attnlab.recipes.knowledge.finetune import run_finetune
from attnlab.recipes.knowledge.pretrain import run_pretrain
from attnlab.recipes.knowledge.settings import (
    DemoSettings,
    FinetuneSettings,
    PretrainSettings,
)
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN, UNSEEN, write_world
from attnlab.recipes.studying import open_study
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study

JOB = "knowledge-demo"
TITLE = "Where were they born? Guessing, questions alone, and two models that have read about them"
WORLD = "world"


def run_demo(settings: DemoSettings, *, place: RunPlace, console: Console) -> Study:
    """Make a world, run everything that is compared, and return the study; goes on by itself."""
    with open_study(JOB, settings, place, title=TITLE) as study:
        folder = study.path / WORLD
        study.world.from_lead(lambda: write_world(settings.world, folder))
        constant = ConstantSettings(str(folder / TRAIN), str(folder / TEST))
        study.world.from_lead(lambda: run_constant(constant, place=study.place("constant")).name)
        study.take_in("constant")
        for name, run in _runs(settings, folder, console).items():
            run(place=study.place(name))
            study.take_in(name)
    return Study.open(study.path)


def _runs(
    settings: DemoSettings, folder: Path, console: Console
) -> dict[str, Callable[..., object]]:
    """Return the training runs by name; each takes the place where it is to live."""
    corpus, train, dev, test = (str(folder / name) for name in (CORPUS, TRAIN, DEV, TEST))
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
    unseen = str(folder / UNSEEN) if settings.world.held_out else ""
    recall = replace(reading, unseen=unseen, samples=settings.samples)
    model = replace(settings.model, attention=AttentionSettings("synthesizer"))
    return {
        "questions-alone": partial(
            run_finetune, FinetuneSettings(**common, training=alone), console=console
        ),
        "recall": partial(run_pretrain, recall, console=console),
        "synthesizer": partial(run_pretrain, replace(reading, model=model), console=console),
    }
