"""How a study begins, takes its runs in, and is taken back after a mistake."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.config import to_dict
from attnlab.errors import UserError
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study
from attnlab.training.distributed import World, join_world


@dataclass(frozen=True)
class Studying:
    """A study that this process works on, perhaps with others."""

    path: Path
    world: World

    def place(self, name: str) -> RunPlace:
        """Return where a run of the study lives."""
        return RunPlace(self.path, name)

    def take_in(self, name: str) -> None:
        """Name a finished run among those of the study."""

        def add() -> None:
            Study.open(self.path).add(name)

        self.world.from_lead(add)


@contextmanager
def open_study(
    job: str, settings: Any, place: RunPlace, *, title: str, notes: Sequence[str] = ()
) -> Iterator[Studying]:
    """Begin or continue the study of these settings; a mistake before step 1 leaves nothing."""
    begun: list[Study] = []

    def begin() -> str:
        begun.append(Study.begin(job, to_dict(settings), place, title=title, notes=notes))
        return str(begun[0].path.resolve())  # however a user writes the path, it is the same study

    with join_world() as world:
        path = Path(world.from_lead(begin))
        try:
            yield Studying(path, world)
        except UserError:
            for study in begun:
                study.discard_if_untouched()
            raise
