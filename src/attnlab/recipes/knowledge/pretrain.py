"""Pretraining: read a corpus with some objective, optionally with training questions mixed in."""

from rich.console import Console

from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.recipes.knowledge.language_model import (
    BLOCK,
    need_memory_to_train,
    new_language_model,
    refuse_too_large,
)
from attnlab.recipes.knowledge.language_model_training import (
    LanguageModelTraining,
    build_objective,
    mixed_rows,
    need_memory_for_batches,
)
from attnlab.recipes.knowledge.running_text import refuse_unused
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.recipes.knowledge.texts import files_of, learn_tokenizer, read_pretraining
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.loop import train


def run_pretrain(job: str, settings: PretrainSettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from the corpus and leave the run with its record; resumes by itself."""
    inputs = Inputs(files_of(settings), settings.model.attention)
    if done := finished_run(job, settings, place=place, files=inputs.files):
        return done
    _check(settings)
    with open_run(job, settings, inputs, place=place, console=console) as session:
        texts, chosen = read_pretraining(settings, session)
        seed = settings.training.seed
        tokenizer = learn_tokenizer(settings.tokenizer, texts, session)
        objective = build_objective(chosen, texts.corpus, tokenizer, texts.train)
        max_len = max(BLOCK, objective.longest)
        need_memory_to_train(settings.model, tokenizer, max_len=max_len)
        lm = new_language_model(settings.model, tokenizer, max_len=max_len, seed=seed)
        is_read_only = not settings.questions_write
        questions = [lm.row(q, is_read_only=is_read_only) for q in texts.train]
        rows_of = mixed_rows(objective, questions, seed=seed)
        rows = Epochs(rows_of, size=tokens_per_batch(settings.batch_tokens), seed=seed)
        need_memory_for_batches(lm, rows, settings, session)
        lm_training = LanguageModelTraining(lm, texts, rows, session)
        state = train(lm_training.task(settings.training), settings.training, session)
        lm_training.close(state, samples=settings.samples)
        return session.run


def _check(settings: PretrainSettings) -> None:
    """Refuse, before there is a run, what would have no effect or no room."""
    refuse_unused(settings)
    refuse_too_large(settings)
