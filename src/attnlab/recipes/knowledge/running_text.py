"""Running text instead of entries: noticed before training, its end cut off to be held out."""

from dataclasses import replace
from pathlib import Path

from attnlab.data.entries import has_entries
from attnlab.data.held_out_text import hold_out_end
from attnlab.data.knowledge_files import read_corpus, read_running_text
from attnlab.data.objectives import OBJECTIVES
from attnlab.errors import UserError
from attnlab.evaluation.intervals import percent
from attnlab.recipes.knowledge.settings import AUTO, ObjectiveSettings, PretrainSettings
from attnlab.runs.directory import Run
from attnlab.training.session import Session

ENTRIES, RUNNING_TEXT = "salient_spans", "running_text"
"""What ``auto`` comes to for a corpus of lines ``Name. Text``, and for any other."""
OBJECTIVE = "objective"


def refuse_unused(settings: PretrainSettings) -> None:
    """Refuse, before a run begins, settings that the others leave without any effect."""
    if settings.questions_write and not (settings.questions and settings.model.ngram_table.rows):
        missing = "model has none" if settings.questions else "run has no questions"
        raise UserError(
            f"questions_write = true lets questions update the n-gram table, but this {missing}."
            " Leave it out, or set questions and model.ngram_table.rows."
        )
    share, path = settings.text_held_out, Path(settings.corpus)
    if share in (0, PretrainSettings.text_held_out) or not path.is_file():
        return
    if (name := objective_for(settings)) != RUNNING_TEXT:
        raise UserError(
            f"text_held_out = {share} holds out the end of running text, but the objective for"
            f" {path.name} is {name}, which holds nothing out. Leave it out, or set"
            f" objective.name={RUNNING_TEXT}."
        )


def objective_for(settings: PretrainSettings) -> str:
    """Return what ``auto`` means for the corpus, or the objective that the settings name."""
    if settings.objective.name != AUTO:
        return settings.objective.name
    return ENTRIES if has_entries(read_corpus(Path(settings.corpus))) else RUNNING_TEXT


def choose_objective(settings: PretrainSettings, session: Session) -> ObjectiveSettings:
    """Decide what ``auto`` means for the corpus, once in the life of a run; announce plain text."""
    name = session.resolve_once(OBJECTIVE, lambda: objective_for(settings))
    OBJECTIVES.check(name, settings.objective.options)
    if name == RUNNING_TEXT:
        session.say(_notice(Path(settings.corpus), settings.text_held_out))
    return replace(settings.objective, name=name)


def _notice(path: Path, share: float) -> str:
    """Say in a line what plain text is trained on and measured on."""
    seen = ":" if has_entries(read_corpus(path)) else " has no lines that begin with a name:"
    held_out = f"the last {percent(share)} is" if share else "nothing is"
    return f"{path.name}{seen} training on plain text; {held_out} held out for perplexity."


def running_text_read_by(run: Run, path: Path) -> list[str] | None:
    """Return the text that a run has learned from; None if it read a corpus of entries."""
    if run.config["resolved"].get(OBJECTIVE) != RUNNING_TEXT:
        return None
    return running_text_parts(path, float(run.setting("text_held_out")))[0]


def running_text_parts(path: Path, share: float) -> tuple[list[str], str]:
    """Return the lines to learn from, and the held-out end."""
    learned, held_out = hold_out_end(read_running_text(path), share)
    if not learned.strip() or (share and not held_out.strip()):
        raise UserError(
            f"{path} is too short: text_held_out = {share} leaves no text to"
            f" {'measure on' if learned.strip() else 'learn from'}. Give a longer text, or"
            " text_held_out=0 to hold nothing out."
        )
    return learned.split("\n"), held_out
