"""How every job begins: join the other processes, take the run directory, resolve every auto."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.config import to_dict
from attnlab.runs.directory import Run, RunPlace
from attnlab.training import hardware
from attnlab.training.distributed import Processes, join_processes
from attnlab.training.hardware import Hardware, refuse_other_precision
from attnlab.training.settings import TrainingSettings

PROCESSES = "processes"
"""Where a run keeps the number of processes it was begun with."""
THREADS = "threads"
"""Where a run that trains keeps the number of threads it was begun with."""
ATTENTION_FILES = "attention_files"
"""Where a run keeps the hash of the user's own attention files."""


@dataclass(frozen=True)
class Session:
    """A run that this process works on, with everything that was decided about it."""

    run: Run
    processes: Processes
    hardware: Hardware
    console: Console | None
    """Where to show progress; None in every process but the lead."""
    is_trial: bool = False
    """Whether training is only timed, not done."""

    def resolve_once(self, key: str, decide: Callable[[], Any]) -> Any:
        """Decide an `auto` for all processes, once in the life of the run."""
        return self.processes.from_lead(lambda: self.run.resolve_once(key, decide))

    def insist(self, key: str, value: Any, *, what: str) -> None:
        """Refuse to go on with a run that was begun with another value of something."""
        begun_with = self.resolve_once(key, lambda: value)
        if begun_with != value:
            raise self.run.has_changed(what)

    def say_other_processes(self, *, has_dropout: bool) -> None:
        """Tell the user what going on with another number of processes changes."""
        resolved = self.run.config["resolved"]
        begun_with, now = resolved[PROCESSES], self.processes.size
        if begun_with != now:
            another = "the result is that of another run, as after a change of the seed"
            if has_dropout:
                what = f"dropout drops other activations, so {another}"
            elif resolved.get(ATTENTION_FILES):  # which no module of ours need show
                what = f"if your own attention draws random numbers, as dropout does, {another}"
            else:
                what = "the result is equal up to rounding, not bit for bit"
            self.say(
                f"{self.run.name} was begun with {_counted(begun_with)} and goes on with {now}:"
                f" {what}."
            )

    def say(self, text: str) -> None:
        """Show a notice to the user."""
        if self.console:
            self.console.print(text, highlight=False, soft_wrap=True)


def _counted(processes: int) -> str:
    return "1 process" if processes == 1 else f"{processes} processes"


def _take_back_if_it_never_began(run: Run) -> Callable[..., None]:
    """Return an exit that removes a run that failed before step 1: a mistake changes nothing."""

    def leave(kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            run.discard_if_untouched()

    return leave


@contextmanager
def open_session(
    job: str, settings: Any, training: TrainingSettings, *, place: RunPlace, console: Console
) -> Iterator[Session]:
    """Begin or continue the run of these settings; in all processes the same one."""
    with join_processes() as processes, ExitStack() as stack:

        def begin() -> str:
            run = stack.enter_context(Run.begin(job, to_dict(settings), place))
            stack.push(_take_back_if_it_never_began(run))
            return str(run.path)

        run = Run(Path(processes.from_lead(begin)))
        choice = processes.from_lead(
            lambda: run.resolve_once("hardware", lambda: hardware.choose(training))
        )
        refuse_other_precision(run.name, to_dict(training), choice["precision"])
        threads = (
            processes.from_lead(lambda: run.config["resolved"].get(THREADS))
            or hardware.chosen_threads(training)
            or hardware.all_threads(local_processes=processes.local_size)
        )
        used = hardware.use(choice, threads=threads)
        shown = console if processes.lead else None
        session = Session(run, processes, used, shown, is_trial=place.is_trial)
        session.resolve_once(PROCESSES, lambda: processes.size)
        yield session
