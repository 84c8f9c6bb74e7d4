"""How every job opens its run: what it computes with and what it reads is decided here, once."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.attention import fast_path
from attnlab.attention.assemble import hash_of_users_files
from attnlab.attention.settings import AttentionSettings
from attnlab.config import to_dict
from attnlab.recipes.files import refuse_changed_files
from attnlab.runs.directory import Run, RunPlace
from attnlab.training import hardware
from attnlab.training.distributed import join_processes
from attnlab.training.hardware import Hardware, precision_of
from attnlab.training.optimization import check_training
from attnlab.training.session import ATTENTION_FILES, Session, open_session
from attnlab.training.settings import TrainingSettings

FUSED_FROM = "fused_attention_from"


@dataclass(frozen=True)
class Inputs:
    """What a run computes from, which must not change under it."""

    files: Mapping[str, Path]
    """What it reads, by the name of the setting."""
    attention: AttentionSettings = AttentionSettings()
    source: Run | None = None
    """The run whose model it evaluates, with the precision and the attention path that the model
    was trained with."""


def finished_run(
    job: str, settings: Any, *, place: RunPlace, files: Mapping[str, Path]
) -> Run | None:
    """Return the run of these settings if it is finished; of its files, some may be gone."""
    run = Run.find(job, to_dict(settings), place)
    if run is None or not run.finished:
        return None
    if not run.failure:  # else there is nothing that could be another run's
        refuse_changed_files(run, files)
        precision_of(run)  # refuses an environment that asks for another one
    return run


@contextmanager
def open_run(
    job: str, settings: Any, inputs: Inputs, *, place: RunPlace, console: Console
) -> Iterator[Session]:
    """Begin or continue a run that is not finished, and settle what it computes with and from."""
    training = getattr(settings, "training", None)
    if training:
        check_training(training)
    training = training or _asking(inputs.source)
    with open_session(job, settings, training, place=place, console=console) as session:
        session.processes.from_lead(lambda: refuse_changed_files(session.run, inputs.files))
        _pin_attention(session, inputs.attention, inputs.source)
        yield session


def run_without_training(
    job: str,
    settings: Any,
    work: Callable[[Run], None],
    *,
    place: RunPlace,
    files: Mapping[str, Path],
) -> Run:
    """Begin or continue a run and do its work, finished or not; other processes wait for it."""

    def begin_and_work() -> str:
        run = Run.begin(job, to_dict(settings), place)
        try:
            with run:
                refuse_changed_files(run, files)
                work(run)
        except Exception:
            run.discard_if_untouched()
            raise
        return str(run.path)

    with join_processes() as processes:
        return Run(Path(processes.from_lead(begin_and_work)))


def computing_like(source: Run | None) -> Hardware:
    """Compute in this process as a run did, without a run of its own."""
    if source:
        fast_path.use(int(source.resolved(FUSED_FROM)))
    asking = _asking(source)
    threads = hardware.chosen_threads(asking) or hardware.all_threads()
    return hardware.use(hardware.choose(asking), threads=threads)


def _asking(source: Run | None) -> TrainingSettings:
    return TrainingSettings(precision=precision_of(source)) if source else TrainingSettings()


def _pin_attention(session: Session, attention: AttentionSettings, source: Run | None) -> None:
    """Take the way to compute it that the run began with, and refuse a user's file that changed."""

    def decide() -> int:
        if source:
            return int(source.resolved(FUSED_FROM))
        return fast_path.recorded_or_measured(session.hardware.dtype)

    fast_path.use(session.resolve_once(FUSED_FROM, decide))
    session.insist(
        ATTENTION_FILES,
        session.processes.from_lead(lambda: hash_of_users_files(attention)),
        what=f"the file of attention {attention.name!r}",
    )
