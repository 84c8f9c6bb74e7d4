"""Fine-tuning: learn to answer questions, from a pretrained model or from scratch."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from attnlab.data.batches import TokenRow
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.errors import UserError
from attnlab.recipes.knowledge.language_model import (
    BLOCK,
    LanguageModel,
    need_memory_to_train,
    new_language_model,
    refuse_too_large,
)
from attnlab.recipes.knowledge.language_model_training import (
    LanguageModelTraining,
    build_objective,
    mixed_rows,
    need_memory_for_batches,
    preferring_answers,
)
from attnlab.recipes.knowledge.reader_notes import inherited_warnings
from attnlab.recipes.knowledge.saved import Saved, file_of, open_saved
from attnlab.recipes.knowledge.settings import RECIPES, FinetuneSettings
from attnlab.recipes.knowledge.texts import KnowledgeTexts, files_of, learn_tokenizer, read_texts
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.loop import TrainingState, train
from attnlab.training.session import Session
from attnlab.tuning.movement import check_movement, fingerprints
from attnlab.tuning.settings import FULL
from attnlab.tuning.tuned import Tuned, apply_tuning


def run_finetune(job: str, settings: FinetuneSettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from the training questions and leave the run with its record; resumes by itself."""
    files = files_of(settings)
    if settings.start:
        files["start"] = file_of(Path(settings.start))
    if done := finished_run(job, settings, place=place, files=files):
        return done
    saved = _start(settings)
    size = saved.size if saved else settings.model
    inputs = Inputs(files, size.attention)
    with open_run(job, settings, inputs, place=place, console=console) as session:
        texts, seed = read_texts(settings), settings.training.seed
        lm = _model(saved, settings, texts, session)
        # a new model has read nothing: the corpus gave it characters only
        lost = bool(saved and saved.lost_corpus)
        texts = replace(texts, corpus=saved.corpus if saved else (), has_lost_corpus=lost)
        warnings = [*saved.warnings, *inherited_warnings(saved.run)] if saved else []
        for warning in warnings:
            session.say(f"warning: {warning}")
        rows_of = _rows(settings, texts, lm)
        rows = Epochs(rows_of, size=tokens_per_batch(settings.batch_tokens), seed=seed)
        need_memory_for_batches(lm, rows, settings, session)
        tuned = _tune(lm, settings, session)
        lm_training = LanguageModelTraining(lm, texts, rows, session)
        state = _train(lm_training, settings, tuned)
        lm_training.close(state, samples=settings.samples, warnings=warnings)
        return session.run


def _train(
    lm_training: LanguageModelTraining, settings: FinetuneSettings, tuned: Tuned | None
) -> TrainingState:
    """Train, and check that what is frozen stayed as it was."""
    session = lm_training.session
    before = fingerprints(tuned.model) if tuned else {}
    state = train(lm_training.task(settings.training), settings.training, session)
    if tuned:
        movement = check_movement(tuned, before, steps=state.best_step or state.step)
        session.say(movement.describe())
    return state


def _tune(lm: LanguageModel, settings: FinetuneSettings, session: Session) -> Tuned | None:
    """Freeze what the tuning method does not train; all of the model learns without one."""
    if settings.tuning.name == FULL:
        return None
    tuned = apply_tuning(lm.model, settings.tuning, seed=settings.training.seed)
    session.say(tuned.describe())
    session.hardware.place(lm.model)  # in the run's precision, so that bits can be compared
    return tuned


def _start(settings: FinetuneSettings) -> Saved | None:
    """Find the pretrained model, if there is to be one."""
    if settings.tuning.name != FULL and not Path(settings.start or "-").is_dir():
        raise UserError(
            f"tuning = {settings.tuning.name!r} trains some parameters and takes the others from a"
            f" pretrained run, but start = {settings.start!r} is none. Give --start RUN, or train"
            " everything with tuning 'full'."
        )
    if not settings.start:
        refuse_too_large(settings)
        return None
    _refuse_another_size(settings)
    dropout = settings.model.dropout
    saved = open_saved(
        Path(settings.start),
        corpus=settings.corpus,
        dropout=dropout,
        accept_changed_code=settings.accept_changed_code,
    )
    if settings.held_out and not saved.kept_back(Path(settings.questions), settings.held_out):
        raise UserError(
            f"held_out = {settings.held_out} would evaluate on questions that {settings.start} may"
            " have been trained on. Pretrain it with the same questions and the same held_out, or"
            " without questions."
        )
    return saved


def _refuse_another_size(settings: FinetuneSettings) -> None:
    """Refuse a size for a model that has one already, unless it is that of a recipe."""
    usual = [recipe.finetune for recipe in RECIPES.values()]
    for name in ("model", "tokenizer"):
        if getattr(settings, name) not in [getattr(recipe, name) for recipe in usual]:
            raise UserError(f"{name} does not go with start: it is taken from {settings.start}.")


def _model(
    saved: Saved | None, settings: FinetuneSettings, texts: KnowledgeTexts, session: Session
) -> LanguageModel:
    """Load the pretrained model or make a new one; refuse what has no room to be trained."""
    lm = saved.load() if saved else _new(settings, texts, session)
    need_memory_to_train(lm.size, lm.tokenizer, max_len=lm.model.max_len)
    return lm


def _new(settings: FinetuneSettings, texts: KnowledgeTexts, session: Session) -> LanguageModel:
    """Make a new model with the corpus's tokenizer."""
    if not texts.corpus:
        raise UserError(
            "a model that was not pretrained needs --corpus, which its tokenizer is made from; or"
            " give --start RUN, the pretrained run to start from."
        )
    tokenizer = learn_tokenizer(settings.tokenizer, texts, session)
    return new_language_model(settings.model, tokenizer, max_len=BLOCK, seed=settings.training.seed)


def _rows(
    settings: FinetuneSettings, texts: KnowledgeTexts, lm: LanguageModel
) -> Callable[[int], Sequence[TokenRow]]:
    """Return what draws an epoch: the questions, and with a replay the corpus once more."""
    rows = [lm.row(question) for question in texts.train]
    if not settings.replay.name:
        return lambda _: rows
    if not texts.corpus:
        raise UserError(
            f"replay reads the corpus of {settings.start} again, but its file is gone or changed."
        )
    objective = build_objective(
        settings.replay, texts.corpus, lm.tokenizer, preferring_answers(texts.train)
    )
    return mixed_rows(objective, rows, seed=settings.training.seed)
