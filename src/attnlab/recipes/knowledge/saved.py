"""A saved language model: in a finished run, or in one of the course's ``.params`` files."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.attention.assemble import hash_of_users_files, users_files
from attnlab.data.knowledge_files import read_corpus
from attnlab.errors import UserError
from attnlab.evaluation.answer_judge import AnswerJudge
from attnlab.evaluation.calibration import CALIBRATION, INVENTED
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.files import HASHES
from attnlab.recipes.knowledge.calibration import Context, names_of
from attnlab.recipes.knowledge.corpus_reader import load_corpus_reader
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
from attnlab.training.session import ATTENTION_FILES

NOT_CHECKED = "whether the model has read a name is not checked"


@dataclass(frozen=True)
class Saved:
    """What is known about a language model before its weights are read, and how to read them."""

    load: Callable[[], LanguageModel]
    size: ModelSettings
    corpus: Sequence[str]
    """What it has read; nothing if that is not known any more."""
    calibration: Sequence[dict[str, Any]]
    """Its answers about held-out training people."""
    invented: Sequence[dict[str, Any]] = ()
    """Its answers about invented people."""
    run: Run | None = None
    """The run that it is of, if it is of one."""
    learned: tuple[str, float] | None = None
    """Hash of the questions it has learned from, and the share of them that was held out."""
    lost_corpus: str = ""
    """Why it is not known any more what it has read; empty if it is known."""
    changed_code: str = ""
    """Which code of its attention has changed since, if the user accepts that."""
    unknown_characters: str = ""
    """Why it is not certain which characters its tokens are, if it is not."""

    @property
    def warnings(self) -> list[str]:
        """What its answers suffer from."""
        lost = self.lost_corpus and f"{self.lost_corpus}: {NOT_CHECKED}"
        found = (lost, self.changed_code, self.unknown_characters)
        return [warning for warning in found if warning]

    def context(self) -> Context:
        """Return what its answers are compared with."""
        found = self.run.record.get("confidence", {}).get("judge") if self.run else None
        return Context(
            names_of(self.corpus),
            load_corpus_reader(self.run) if self.run else None,
            self.calibration,
            self.invented,
            AnswerJudge(**found) if found else None,
        )

    def kept_back(self, questions: Path, held_out: float) -> bool:
        """Whether holding out this share of some questions asks none that it has learned."""
        return self.learned is None or (
            questions.is_file() and self.learned == (sha256_of(questions), held_out)
        )

    def context_sha256(self) -> str:
        """Hash what judges its answers: the names it has read, and how sure it was before."""
        return hashlib.sha256(
            to_json([list(self.corpus), list(self.calibration), list(self.invented)])
        ).hexdigest()


def open_saved(
    path: Path, *, corpus: str = "", dropout: float = 0.0, accept_changed_code: bool = False
) -> Saved:
    """Find a language model; a file needs the corpus that its characters come from.

    A run knows its own corpus: giving it says where it is by now.
    """
    if path.is_file():
        return _file(path, corpus, dropout)
    run = Run.open(path)
    size = saved_size(run)
    changed_code = _changed_code(run, size, accepted=accept_changed_code)
    read, lost = _read_by(run, corpus)
    return Saved(
        lambda: load_language_model(run),
        size,
        read,
        run.predictions(CALIBRATION) if CALIBRATION in run.record["scores"] else [],
        run.predictions(INVENTED) if run.has_predictions(INVENTED) else [],
        run=run,
        learned=_learned_by(run),
        lost_corpus=lost,
        changed_code=changed_code,
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
    unknown = (
        f"{path.name} does not say which characters it knows: only their number was compared with"
        f" {Path(corpus).name}"
    )
    return Saved(lambda: lm, lm.size, lines, [], unknown_characters=unknown)


def _read_by(run: Run, corpus: str) -> tuple[Sequence[str], str]:
    """Return what a run, or the one it started from, has read; or why that is not known any more.

    ``corpus`` is where the file is by now, if the user says so. A model that was only finetuned has
    read none: its corpus gave it characters.
    """
    settings, data = run.config["settings"], run.config["resolved"].get(HASHES, {})
    start = settings.get("start", "")
    if start and (Path(start).is_dir() or not settings["corpus"]):
        lost = _lost(f"the run {start}", Path(start) / RECORD, data.get("start"), run)
        return ([], lost) if lost else _read_by(Run.open(Path(start)), corpus)
    path = Path(corpus or settings.get("corpus", ""))
    lost = _lost(f"the corpus {path}", path, data.get("corpus"), run)
    if corpus and (lost or not run.recorded("has_read")):
        raise UserError(
            f"corpus = {corpus} does not go with the run {run.path}: it is not the text that the"
            " run has read."
        )
    if lost or not run.recorded("has_read"):
        return [], lost if run.recorded("has_read") else ""
    running = running_text_read_by(run, path)
    return (read_corpus(path) if running is None else running), ""


def _lost(what: str, path: Path, sha256: str | None, run: Run) -> str:
    """Say why a file is not what a run was begun with; nothing if it is."""
    if not path.is_file():
        return f"{what} is missing"
    return "" if sha256_of(path) == sha256 else f"{what} has changed since {run.name} was begun"


def _changed_code(run: Run, size: ModelSettings, *, accepted: bool) -> str:
    """Refuse a user's attention that is not the one a run was trained with, or say so."""
    then, now = run.config["resolved"].get(ATTENTION_FILES), hash_of_users_files(size.attention)
    if then == now:
        return ""
    files = ", ".join(map(str, users_files(size.attention)))
    changed = (
        f"{files} has changed since {run.name} was trained with it: SHA-256 {_short(then)} then,"
        f" {_short(now)} now"
    )
    if not accepted:
        raise UserError(
            f"{changed}. Restore the file, or go on with other code than the weights were trained"
            " with: --accept-changed-code."
        )
    return changed


def _short(sha256: str | None) -> str:
    return f"{sha256[:12]}…" if sha256 else "unknown"


def _learned_by(run: Run) -> tuple[str, float] | None:
    """Return which questions a run has learned from, or the one that it started from."""
    settings, data = run.config["settings"], run.config["resolved"].get("data", {})
    if "questions" in data:
        return data["questions"], settings.get("held_out", 0.0)
    start = settings.get("start", "")
    return _learned_by(Run.open(Path(start))) if start and Path(start).is_dir() else None
