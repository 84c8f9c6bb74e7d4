"""Which recipe fits a corpus, seen from its lines. Loads no torch."""

from dataclasses import replace
from pathlib import Path

from attnlab.data.entries import has_entries
from attnlab.data.knowledge_files import read_corpus
from attnlab.recipes.knowledge.settings import ObjectiveSettings, PretrainSettings

FOR_ENTRIES, FOR_TEXT = "recall", "text"
PLAIN_TEXT = ObjectiveSettings("running_text")


def recipe_for(corpus: str) -> str:
    """Choose by whether its lines begin with a name."""
    return FOR_TEXT if is_plain_text(corpus) else FOR_ENTRIES


def fitted_to(corpus: str, recipe: PretrainSettings) -> PretrainSettings:
    """Let a recipe read plain text as such; its model, tokens and training stay what they are.

    Spans are hidden in entries so that questions can be answered; plain text has no questions, and
    what a model of it is worth is its perplexity.
    """
    return replace(recipe, objective=PLAIN_TEXT) if is_plain_text(corpus) else recipe


def is_plain_text(corpus: str) -> bool:
    """Say whether no names begin its lines; a missing file is for the run to refuse."""
    path = Path(corpus)
    return bool(corpus) and path.is_file() and not has_entries(read_corpus(path))
