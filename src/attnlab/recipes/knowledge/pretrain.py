"""Pretraining: read a corpus with some objective, optionally with training questions mixed in."""

import time
from dataclasses import replace

from rich.console import Console

from attnlab.data.batches import TokenRow
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.data.names import Names
from attnlab.data.objectives import Preference
from attnlab.recipes.knowledge.corpus_reader import FEWEST, learn_to_read, need_corpus_reader
from attnlab.recipes.knowledge.language_model import (
    BLOCK,
    LanguageModel,
    need_memory_to_train,
    new_language_model,
    refuse_impossible,
    refuse_too_large,
)
from attnlab.recipes.knowledge.language_model_training import (
    LanguageModelTraining,
    build_objective,
    mixed_rows,
    need_memory_for_batches,
    preferring_answers,
)
from attnlab.recipes.knowledge.reader_notes import describe
from attnlab.recipes.knowledge.running_text import ENTRIES, refuse_unused
from attnlab.recipes.knowledge.settings import ObjectiveSettings, PretrainSettings
from attnlab.recipes.knowledge.synthetic import refuse_unwritable, with_synthetic
from attnlab.recipes.knowledge.texts import (
    KnowledgeTexts,
    files_of,
    learn_tokenizer,
    read_pretraining,
)
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.loop import train
from attnlab.training.session import Session


def run_pretrain(job: str, settings: PretrainSettings, *, place: RunPlace, console: Console) -> Run:
    """Learn from the corpus and leave the run with its record; resumes by itself."""
    inputs = Inputs(files_of(settings), settings.model.attention)
    if done := finished_run(job, settings, place=place, files=inputs.files):
        return done
    _check(settings)
    with open_run(job, settings, inputs, place=place, console=console) as session:
        texts, chosen = read_pretraining(settings, session)
        seed = settings.training.seed
        texts, preference = _with_reader(texts, settings, chosen, session)
        tokenizer = learn_tokenizer(settings.tokenizer, texts, session)
        objective = build_objective(chosen, texts.corpus, tokenizer, preference)
        max_len = max(BLOCK, objective.longest)
        need_memory_to_train(settings.model, tokenizer, max_len=max_len)
        lm = new_language_model(settings.model, tokenizer, max_len=max_len, seed=seed)
        texts, questions = _asked(texts, settings, lm, session)
        rows_of = mixed_rows(objective, questions, seed=seed)
        rows = Epochs(rows_of, size=tokens_per_batch(settings.batch_tokens), seed=seed)
        need_memory_for_batches(lm, rows, settings, session)
        lm_training = LanguageModelTraining(lm, texts, rows, session)
        state = train(lm_training.task(settings.training), settings.training, session)
        lm_training.close(state, samples=settings.samples)
        return session.run


def _with_reader(
    texts: KnowledgeTexts, settings: PretrainSettings, chosen: ObjectiveSettings, session: Session
) -> tuple[KnowledgeTexts, Preference]:
    """Let a reader learn from the questions, if it is to write others or to choose spans.

    Where it cannot, whatever answers some training question is preferred. A run does not resume
    with a reader that answers differently.
    """
    begin = time.perf_counter()
    chooses = settings.prefer == "reader" and chosen.name == ENTRIES
    reader = learn_to_read(texts.corpus, texts.train) if chooses else None
    if settings.synthetic.questions:
        reader = reader or need_corpus_reader(texts.corpus, texts.train)
    if reader:
        session.insist("reader", reader.sha256(), what="what the reader finds in the corpus")
    elif chooses and texts.train:
        session.say(
            "no reader could learn from the training questions: views favour whatever answers one"
            f" of them. A reader needs {FEWEST} questions of one form about names in the corpus."
        )
    if not reader:
        return texts, preferring_answers(texts.train)
    seconds = time.perf_counter() - begin
    texts = replace(texts, reader=reader, reader_seconds=seconds, views_favour_reader=chooses)
    if not chooses:
        return texts, preferring_answers(texts.train)
    session.say(f"views favour the span that a reader picks: {describe(reader.accuracy)}.")
    return texts, reader.preference(Names.of(texts.corpus))


def _asked(
    texts: KnowledgeTexts, settings: PretrainSettings, lm: LanguageModel, session: Session
) -> tuple[KnowledgeTexts, list[TokenRow]]:
    """Add the reader's questions, if they are wanted; return all that are asked as rows."""
    texts = with_synthetic(texts, settings.synthetic, lm, session)
    is_read_only = not settings.questions_write
    asked = (*texts.train, *texts.synthetic)
    return texts, [lm.row(question, is_read_only=is_read_only) for question in asked]


def _check(settings: PretrainSettings) -> None:
    """Refuse, before there is a run, what has no effect or no room, or cannot be built."""
    refuse_unwritable(settings)
    refuse_unused(settings)
    refuse_too_large(settings)
    refuse_impossible(settings.model)
