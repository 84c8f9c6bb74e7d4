"""Which recipe fits a corpus, seen from its lines. Loads no torch."""

from pathlib import Path

from attnlab.data.entries import has_entries
from attnlab.data.knowledge_files import read_corpus

FOR_ENTRIES, FOR_TEXT = "recall", "text"


def recipe_for(corpus: str) -> str:
    """Choose by whether its lines begin with a name; a missing file is for the run to refuse."""
    path = Path(corpus)
    if not corpus or not path.is_file():
        return FOR_ENTRIES
    return FOR_ENTRIES if has_entries(read_corpus(path)) else FOR_TEXT
