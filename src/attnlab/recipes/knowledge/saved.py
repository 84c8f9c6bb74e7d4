"""A saved language model: in a finished run, or in one of the course's ``.params`` files."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.data.knowledge_files import read_corpus
from attnlab.errors import UserError
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.knowledge.language_model import (
    LanguageModel,
    language_model_of_params,
    load_language_model,
    saved_size,
)
from attnlab.recipes.knowledge.running_text import running_text_read_by
from attnlab.recipes.knowledge.texts import characters_of
from attnlab.runs.directory import RECORD, Run
from attnlab.runs.files import sha256_of, to_json


@dataclass(frozen=True)
class Saved:
    """What is known about a language model before its weights are read, and how to read them."""

    load: Callable[[], LanguageModel]
    size: ModelSettings
    corpus: Sequence[str]
    """What it has read; nothing if that is not known any more."""
    calibration: Sequence[dict[str, Any]]
    """Its answers about held-out training people."""
    run: Run | None = None
    """The run that it is of, if it is of one."""
    learned: tuple[str, float] | None = None
    """Hash of the questions it has learned from, and the share of them that was held out."""

    def kept_back(self, questions: Path, held_out: float) -> bool:
        """Whether holding out this share of some questions asks none that it has learned."""
        return self.learned is None or (
            questions.is_file() and self.learned == (sha256_of(questions), held_out)
        )

    def context_sha256(self) -> str:
        """Hash what judges its answers: the names it has read, and how sure it was before."""
        return hashlib.sha256(to_json([list(self.corpus), list(self.calibration)])).hexdigest()


def open_saved(path: Path, *, corpus: str = "", dropout: float = 0.0) -> Saved:
    """Find a language model; a file needs the corpus that its characters come from."""
    if path.is_file():
        return _file(path, corpus, dropout)
    if corpus:
        raise UserError(f"corpus = {corpus} does not go with the run {path}, which knows its own.")
    run = Run.open(path)
    return Saved(
        lambda: load_language_model(run),
        saved_size(run),
        _read_by(run),
        run.predictions("held_out") if run.has_predictions("held_out") else [],
        run,
        _learned_by(run),
    )


def file_of(path: Path) -> Path:
    """Return what must not change under a run that goes on from a model, or asks it."""
    return path / RECORD if path.is_dir() else path


def _file(path: Path, corpus: str, dropout: float) -> Saved:
    if not corpus:
        raise UserError(
            f"{path} is a file of weights, which says nothing about its characters: give the corpus"
            " that it was trained on with --corpus."
        )
    lines = read_corpus(Path(corpus))
    lm = language_model_of_params(path, characters_of(lines), dropout=dropout)
    return Saved(lambda: lm, lm.size, lines, [])


def _read_by(run: Run) -> Sequence[str]:
    """Return the corpus of a run, or of the one it started from, if it is still what it was.

    A model that was only finetuned has read none: its corpus gave it characters.
    """
    settings, resolved = run.config["settings"], run.config["resolved"]
    start = settings.get("start", "")
    if start and Path(start).is_dir():
        return _read_by(Run.open(Path(start)))
    path = Path(settings.get("corpus", ""))
    if not path.is_file() or not run.recorded("has_read"):
        return []
    unchanged = resolved.get("data", {}).get("corpus") == sha256_of(path)
    if not unchanged:
        return []
    running = running_text_read_by(run, path)
    return read_corpus(path) if running is None else running


def _learned_by(run: Run) -> tuple[str, float] | None:
    """Return which questions a run has learned from, or the one that it started from."""
    settings, data = run.config["settings"], run.config["resolved"].get("data", {})
    if "questions" in data:
        return data["questions"], settings.get("held_out", 0.0)
    start = settings.get("start", "")
    return _learned_by(Run.open(Path(start))) if start and Path(start).is_dir() else None
