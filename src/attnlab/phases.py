"""What a command is doing right now, shown whenever it takes longer than a moment.

``with phase("reading wiki.txt"):`` shows nothing if the work is quick. If it is not, a spinner
appears on a terminal and a line in a log, always on standard error; ``--quiet`` hides both.

Packages that load slowly are named before they are loaded: while a library is being linked, no
other thread gets a turn. And rich draws nothing here, since it would have to be loaded first.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import cycle
from shutil import get_terminal_size
from threading import Event, RLock, Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attnlab.environment import QUIET, is_on, process_rank

if TYPE_CHECKING:
    from attnlab.console import Console

PATIENCE = 0.3
"""Seconds after which a phase is worth a word."""
TURN = 0.1
"""Seconds that each character of the spinner stays."""
SPINNER = "-\\|/"
ERASE_LINE = "\r\x1b[2K"


def is_quiet() -> bool:
    """Return whether the user wants results and errors only."""
    return is_on(QUIET)


def messages() -> "Console":
    """Return where everything is shown that is not the result."""
    from attnlab.console import Console

    return Console(stderr=True, quiet=_is_hidden())


def _is_hidden() -> bool:
    return is_quiet() or process_rank() != 0


class Phase:
    """Something that takes its time."""

    def __init__(self, text: str, total: int | None = None, *, is_slow: bool = False) -> None:
        self.text, self.total, self.is_slow = text, total, is_slow
        self._done, self._shown, self._in_log = 0, "", False
        self._spinner = cycle(SPINNER)
        self._over, self._lock = Event(), RLock()  # a thread of its own keeps it on the screen

    def advance(self, count: int = 1) -> None:
        """Note that so many more of the total are done."""
        self._done += count

    def begin(self) -> None:
        """Show it: at once if it is known to be slow, else if it is not over in a moment."""
        self._over = Event()
        if self.is_slow:
            self._show()
        Thread(target=self._keep_showing, args=(self._over,), daemon=True).start()

    def end(self) -> None:
        """Take it off the screen; a line in a log stays."""
        with self._lock:
            self._over.set()
            if self._shown:
                _note("") if _note else _write(ERASE_LINE)
            self._shown = ""

    def _keep_showing(self, over: Event) -> None:
        pause = TURN if self.is_slow else PATIENCE
        while not over.wait(pause):
            with self._lock:
                if not over.is_set():
                    self._show()
            pause = TURN

    def _show(self) -> None:
        if _note:
            if self._shown != str(self):
                _note(str(self))
            self._shown = str(self)
        elif _is_hidden():
            return
        elif _has_screen():
            self._shown = str(self)
            # a longer line could not be erased; what others print takes the place of this one
            line = f"{next(self._spinner)} {self._shown}"[: get_terminal_size().columns - 1]
            _write(f"{ERASE_LINE}{line}\r")
        elif not self._in_log:
            self._in_log = True
            _write(f"{self} …\n")

    def __str__(self) -> str:
        return self.text if self.total is None else f"{self.text} {self._done:,}/{self.total:,}"


def _has_screen() -> bool:
    """Say whether a line can be erased again."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def announce_imports(*names: str) -> None:
    """Name the packages of these modules while they are loaded, whoever imports them first."""
    sys.meta_path.insert(0, _Announcer(names))


class _Announcer(MetaPathFinder):
    """Finds nothing itself; lets the module's own loader work inside a phase."""

    def __init__(self, names: Sequence[str]) -> None:
        packages = {name: name.partition(".")[0] for name in names}
        # one phase a package: a log names it once, however many of its modules are slow
        phases = {name: Phase(f"loading {name}", is_slow=True) for name in packages.values()}
        self.phases = {name: phases[package] for name, package in packages.items()}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname not in self.phases:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_in_a_phase(module: ModuleType) -> None:
            with _open_phase(self.phases[fullname]):
                load(module)

        spec.loader.exec_module = load_in_a_phase  # type: ignore[method-assign]
        return spec


_open: list[Phase] = []
_note: Callable[[str], None] | None = None


@contextmanager
def phase(text: str, *, total: int | None = None) -> Iterator[Phase]:
    """Say what is being done for as long as it lasts; an inner phase replaces an outer one."""
    with _open_phase(Phase(text, total)) as here:
        yield here


@contextmanager
def _open_phase(here: Phase) -> Iterator[Phase]:
    if _open:
        _open[-1].end()
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
