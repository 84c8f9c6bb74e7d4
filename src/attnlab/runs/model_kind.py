"""Which kind of model a run has left, told by its files, before any weights are read."""

from pathlib import Path
from typing import Literal

from attnlab.errors import UserError
from attnlab.runs.directory import Run
from attnlab.runs.lock import is_held
from attnlab.runs.study import STUDY

ModelKind = Literal["language model", "classifier"]
LANGUAGE_MODEL: ModelKind = "language model"
CLASSIFIER: ModelKind = "classifier"
LANGUAGE_MODEL_FILE = "language_model.json"
"""What a language model's run has besides its checkpoints: size and tokenizer."""
CLASSIFIER_FOLDER = "model"
"""Where a classifier's run has its model, in the hub's layout."""
MADE_BY = {
    LANGUAGE_MODEL: "attnlab knowledge pretrain or finetune",
    CLASSIFIER: "attnlab classify train",
}


def model_kind(run: Run) -> ModelKind | None:
    """Return the kind of a finished run's model; None if it has none, or none yet."""
    if not run.finished or run.failure:
        return None
    if (run.path / LANGUAGE_MODEL_FILE).exists():
        return LANGUAGE_MODEL
    return CLASSIFIER if (run.path / CLASSIFIER_FOLDER).is_dir() else None


def need_model(path: Path, *kinds: ModelKind) -> ModelKind:
    """Return the kind of a run's model; refuse a run without one, or of none of these kinds."""
    if (path / STUDY).exists():
        raise UserError(f"{path.name} is a study, which has no model: choose one of its runs.")
    run = Run.open(path)
    if not run.finished:
        raise UserError(_unfinished(run))
    found = model_kind(run)
    if found is None or found not in kinds:
        has = "no model" if found is None else f"a {found}"
        made = "; ".join(f"a {kind} is made by {MADE_BY[kind]}" for kind in kinds)
        raise UserError(f"the run {run.name} has {has}: {made}.")
    return found


def _unfinished(run: Run) -> str:
    if is_held(run.path):
        return f"the run {run.name} is still training: ask its model when it has finished."
    how = "has failed" if run.failure else "was stopped"
    return f"the run {run.name} {how} before it was finished: resume it to get its model."
