"""Finetuning: learn to answer questions, from a pretrained model or from nothing."""

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from attnlab.errors import UserError
from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.knowledge.learner import (
    BLOCK,
    Learner,
    load_learner,
    new_learner,
    saved_size,
)
from attnlab.recipes.knowledge.lesson import Lesson
from attnlab.recipes.knowledge.settings import RECIPES, FinetuneSettings
from attnlab.recipes.knowledge.texts import (
    Texts,
    learn_vocabulary,
    read_texts,
    sha256_of,
    sha256_of_vocabulary,
)
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.training.session import Session, open_session

JOB = "knowledge-finetune"


def run_finetune(settings: FinetuneSettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from the training questions and leave the run with its record; resumes by itself."""
    settings = _with_the_model_of_its_start(settings)
    with open_session(JOB, settings, settings.training, place=place, console=console) as session:
        if not session.run.finished:
            texts = read_texts(settings)
            session.insist("data", dict(texts.sha256), what="what the files hold")
            learner = _learner(settings, texts, session)
            settle_attention(session, learner.size.attention)
            rows = [learner.row(question) for question in texts.train]
            lesson = Lesson(learner, texts, session)
            lesson.learn(lambda _: rows, settings.training, batch_tokens=settings.batch_tokens)
        return session.run


def _with_the_model_of_its_start(settings: FinetuneSettings) -> FinetuneSettings:
    """Write down the size that the model has, not the one that a new one would have."""
    if not settings.start:
        return settings
    usual = [recipe for _, recipe in RECIPES.values()]
    for name in ("model", "vocabulary", "corpus"):
        if getattr(settings, name) not in [getattr(recipe, name) for recipe in usual]:
            raise UserError(
                f"{name} does not go with start: it is taken from the run {settings.start}."
            )
    return replace(settings, model=saved_size(Run.open(Path(settings.start))))


def _learner(settings: FinetuneSettings, texts: Texts, session: Session) -> Learner:
    """Take the pretrained model, or make a new one with the corpus's vocabulary."""
    if settings.start:
        run = Run.open(Path(settings.start))
        learner = load_learner(run)
        session.insist("start", sha256_of(run.path / RECORD), what=f"the run {run.path}")
        return learner
    if not texts.corpus:
        raise UserError(
            "a model that was not pretrained needs --corpus, which its vocabulary is made from; or"
            " give --start RUN, the pretrained run to go on from."
        )
    vocabulary = learn_vocabulary(settings.vocabulary, texts)
    session.insist("vocabulary", sha256_of_vocabulary(vocabulary), what="the vocabulary")
    return new_learner(settings.model, vocabulary, max_len=BLOCK, seed=settings.training.seed)
