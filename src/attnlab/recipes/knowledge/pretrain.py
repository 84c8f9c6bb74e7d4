"""Pretraining: read a corpus by some objective, perhaps with training questions mixed in."""

from rich.console import Console

from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.knowledge.learner import BLOCK, new_learner
from attnlab.recipes.knowledge.lesson import Lesson, build_objective, mixed_rows
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.recipes.knowledge.texts import (
    files_of,
    learn_vocabulary,
    read_texts,
    sha256_of_vocabulary,
)
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.session import open_session

JOB = "knowledge-pretrain"


def run_pretrain(settings: PretrainSettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from the corpus and leave the run with its record; resumes by itself."""
    with open_session(JOB, settings, settings.training, place=place, console=console) as session:
        if session.run.finished:
            session.insist_on_files(files_of(settings))
        else:
            settle_attention(session, settings.model.attention)
            texts = read_texts(settings)
            session.insist("data", dict(texts.sha256), what="what the files hold")
            vocabulary = learn_vocabulary(settings.vocabulary, texts)
            session.insist("vocabulary", sha256_of_vocabulary(vocabulary), what="the vocabulary")
            objective = build_objective(settings.objective, texts.corpus, vocabulary, texts.train)
            seed = settings.training.seed
            max_len = max(BLOCK, objective.longest)
            learner = new_learner(settings.model, vocabulary, max_len=max_len, seed=seed)
            is_read_only = not settings.questions_write
            questions = [learner.row(q, is_read_only=is_read_only) for q in texts.train]
            lesson = Lesson(learner, texts, session, samples=settings.samples)
            rows_of = mixed_rows(objective, questions, seed=seed)
            lesson.learn(rows_of, settings.training, batch_tokens=settings.batch_tokens)
        return session.run
