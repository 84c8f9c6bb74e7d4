"""What a command is doing right now, shown whenever it takes longer than a moment.

``with phase("reading wiki.txt"):`` shows nothing if the work is quick. If it is not, a spinner
appears on a terminal and a line in a log, always on standard error; ``--quiet`` hides both.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock, Timer
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attnlab.environment import QUIET, is_on, process_rank

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

    from attnlab.console import Console

PATIENCE = 0.3
"""Seconds after which a phase is worth a word."""


def is_quiet() -> bool:
    """Return whether the user wants results and errors only."""
    return is_on(QUIET)


def messages() -> "Console":
    """Return where everything is shown that is not the result."""
    from attnlab.console import Console

    return Console(stderr=True, quiet=is_quiet() or process_rank() != 0)


class Phase:
    """Something that takes its time."""

    def __init__(self, text: str, total: int | None = None) -> None:
        self.text, self.total = text, total
        self._done, self._ended, self._in_log = 0, False, False
        self._lock = RLock()  # the timer shows it in a thread of its own
        self._timer: Timer | None = None
        self._spinner: Status | None = None

    def advance(self, count: int = 1) -> None:
        """Note that so many more of the total are done."""
        with self._lock:
            self._done += count
            if self._spinner:
                self._spinner.update(_plain(str(self)))

    def begin(self) -> None:
        """Wait a moment, then show it."""
        self._ended = False
        self._timer = Timer(PATIENCE, self._show)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Take it off the screen; a line in a log stays."""
        with self._lock:
            self._ended = True
            if self._timer:
                self._timer.cancel()
            if self._spinner:
                self._spinner.stop()
                self._spinner = None
            if _note:
                _note("")

    def _show(self) -> None:
        with self._lock:
            if self._ended:
                return
            if _note:
                _note(str(self))
                return
            console = messages()
            if console.is_terminal:
                self._spinner = console.status(_plain(str(self)), spinner="line")
                self._spinner.start()
            elif not self._in_log:
                self._in_log = True
                console.print(_plain(f"{self} …"), soft_wrap=True)

    def __str__(self) -> str:
        return self.text if self.total is None else f"{self.text} {self._done:,}/{self.total:,}"


def _plain(text: str) -> "Text":
    """Keep the brackets of a name: they are no markup."""
    from rich.text import Text

    return Text(text)


def announce_imports(*names: str) -> None:
    """Name these packages while they are loaded, whoever imports them first."""
    sys.meta_path.insert(0, _Announcer(names))


class _Announcer(MetaPathFinder):
    """Finds nothing itself; lets the package's own loader work inside a phase."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = set(names)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname not in self.names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_in_a_phase(module: ModuleType) -> None:
            with phase(f"loading {fullname.partition('.')[0]}"):
                load(module)

        spec.loader.exec_module = load_in_a_phase  # type: ignore[method-assign]
        return spec


_open: list[Phase] = []
_note: Callable[[str], None] | None = None


@contextmanager
def phase(text: str, *, total: int | None = None) -> Iterator[Phase]:
    """Say what is being done for as long as it lasts; an inner phase replaces an outer one."""
    if _open:
        _open[-1].end()
    here = Phase(text, total)
    _open.append(here)
    here.begin()
    try:
        yield here
    finally:
        here.end()
        _open.remove(here)
        if _open:
            _open[-1].begin()


@contextmanager
def shown_by(note: Callable[[str], None]) -> Iterator[None]:
    """Let something else show the phases, such as a progress bar: a terminal has room for one."""
    global _note
    before, _note = _note, note
    try:
        yield
    finally:
        _note = before
