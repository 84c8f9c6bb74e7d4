"""The job ``classify train``: learn from labelled text, resume, and leave a run with its record."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from attnlab.assets.models import find_model
from attnlab.assets.substitutions import substituted_among
from attnlab.errors import UserError
from attnlab.models.encoder import EncoderCheckpoint, open_checkpoint
from attnlab.recipes.classify.fine_tuning import FineTuning
from attnlab.recipes.classify.longer import refuse_other_training, take_over
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.classify.texts import (
    fetch_texts,
    files_of,
    read_texts,
    references,
    refuse_unused_share,
    refuse_unused_splits,
)
from attnlab.recipes.classify.tuned_model import need_plain
from attnlab.recipes.files import need
from attnlab.recipes.opening import Inputs, finished_run, open_run
from attnlab.recipes.seen_rows import START_RECORD
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.files import sha256_of
from attnlab.training.distributed import join_processes
from attnlab.training.loop import TrainingState, train
from attnlab.training.session import Session
from attnlab.training.task import Task
from attnlab.tuning.tuned import check_tuning


class Learning(Protocol):
    """Something to train, which knows how to close its run."""

    def task(self) -> Task[Any]:
        """Return what the loop trains."""

    def close(self, state: TrainingState) -> None:
        """Answer every split, export the model and close the run."""


def run_train(
    job: str,
    settings: ClassifySettings,
    *,
    place: RunPlace,
    console: Console,
    begin: Callable[[ClassifySettings, Session], Learning] | None = None,
) -> Run:
    """Learn from labelled text and leave the run with its record; resumes by itself.

    ``begin`` makes what is trained: by default our own classifier, in a course a student's.
    """
    need_texts_and_model(settings)
    inputs = Inputs(files_of(settings))
    if done := finished_run(job, settings, place=place, files=inputs.files):
        return done
    if settings.resume_from:
        refuse_other_training(settings)
    with (
        fetched_by_lead(settings),
        open_run(job, settings, inputs, place=place, console=console) as session,
    ):
        _note_substitutions(settings, session)
        learning = (begin or begin_fine_tuning)(settings, session)
        task = learning.task()
        if settings.resume_from:
            take_over(settings, session)
        state = train(task, settings.training, session)
        learning.close(state)
        return session.run


def begin_fine_tuning(settings: ClassifySettings, session: Session) -> FineTuning:
    """Read the texts, then the model."""
    texts = read_texts(settings)  # before the model: a mistake in a file costs no download
    # nobody but FineTuning holds the checkpoint: it lets go of what the model has copied
    return FineTuning(settings, read_model(settings.model, session), texts, session)


def need_texts_and_model(settings: ClassifySettings) -> None:
    """Refuse to begin without labelled text or a model."""
    need(settings.train, "labelled text, attnlab classify train FILE")
    refuse_unused_share(settings)
    refuse_unused_splits(settings)
    check_tuning(settings.tuning, "--tuning")
    if not settings.model:
        raise UserError(
            "there is no model to fine-tune: give --model FOLDER with config.json, vocab.txt and"
            " model.safetensors, or a model's name; `attnlab assets list` shows those known here."
        )


@contextmanager
def fetched_by_lead(settings: ClassifySettings) -> Iterator[None]:
    """Let one process fetch the datasets; the others wait."""
    with join_processes() as processes:
        processes.from_lead(lambda: fetch_texts(settings))
        yield


def _note_substitutions(settings: ClassifySettings, session: Session) -> None:
    """Write down which names stood for something else when the run began."""
    if found := substituted_among([settings.model, *references(settings).values()]):
        session.resolve_once("substituted", lambda: found)


def read_model(name: str, session: Session) -> EncoderCheckpoint:
    """Find a model and read it; a run resumes only with the model it began with."""
    folder = Path(session.processes.from_lead(lambda: str(find_model(name))))
    need_plain(folder)
    found = open_checkpoint(folder)
    session.insist("base", found.sha256, what=f"the model {name}")
    record = found.folder.parent / RECORD
    if record.is_file():  # of the run that trained it: its rows count as seen
        session.resolve_once(START_RECORD, lambda: sha256_of(record))
    return found
