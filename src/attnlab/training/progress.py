"""What a person sees while a run is going: a bar on a terminal, now and then a line elsewhere."""

import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

BAR_SECONDS, LINE_SECONDS = 0.2, 15.0


class ProgressDisplay(Protocol):
    """Something that can show how far a run is."""

    def __enter__(self) -> Self:
        """Start showing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop showing."""

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Tell that a step is done, with its loss and number of tokens."""


class Silence:
    """Shows nothing: processes other than the lead, and tests."""

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Say nothing."""


class _Pace:
    """A smoothed loss and the rate since the start or the last look."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.loss: float | None = None
        self._tokens, self._since = 0, time.monotonic()
        self.rate = 0.0

    def due(self, *, loss: float, tokens: int, last: bool) -> bool:
        """Take a step in; say whether it is time to show something again."""
        self.loss = loss if self.loss is None else 0.95 * self.loss + 0.05 * loss
        self._tokens += tokens
        elapsed = time.monotonic() - self._since
        if elapsed < self.interval and not last:
            return False
        self.rate = self._tokens / max(elapsed, 1e-9)
        self._tokens, self._since = 0, time.monotonic()
        return True


class Bar:
    """A bar with loss, tokens a second and time left, for a terminal."""

    def __init__(self, console: Console, title: str, *, start: int, steps: int) -> None:
        self.start, self.steps, self.title = start, steps, title
        self._pace = _Pace(BAR_SECONDS)
        # The loop itself refreshes: a second thread would take turns with the training threads.
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}  {task.fields[rate]} tokens/s"),
            TimeRemainingColumn(),
            console=console,
            auto_refresh=False,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Draw the bar."""
        self._progress.start()
        self._task = self._progress.add_task(
            self.title, total=self.steps, completed=self.start, loss="–", rate="–"
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the bar as it stands."""
        self._progress.refresh()
        self._progress.stop()

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Redraw, a few times a second at most."""
        assert self._task is not None
        if self._pace.due(loss=loss, tokens=tokens, last=step == self.steps):
            self._progress.update(
                self._task,
                completed=step,
                loss=f"{self._pace.loss:.3f}",
                rate=f"{self._pace.rate:,.0f}",
                refresh=True,
            )


class Lines:
    """Plain lines for a log file: at the start, every quarter of a minute, at the end."""

    def __init__(self, console: Console, title: str, *, start: int, steps: int) -> None:
        self.console, self.title, self.start, self.steps = console, title, start, steps
        self._pace = _Pace(LINE_SECONDS)
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        """Say where the run begins."""
        if self.start:
            self._print(f"going on at step {self.start:,} of {self.steps:,}")
        else:
            self._print(f"{self.steps:,} steps")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing to take away."""

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Print a line if one is due."""
        if self._pace.due(loss=loss, tokens=tokens, last=step == self.steps):
            seconds = (time.monotonic() - self._begun) / (step - self.start)
            left = seconds * (self.steps - step)
            self._print(
                f"step {step:,}/{self.steps:,}  loss {self._pace.loss:.3f}"
                f"  {self._pace.rate:,.0f} tokens/s  {left:.0f} s left"
            )

    def _print(self, text: str) -> None:
        self.console.print(f"{self.title}: {text}", highlight=False, soft_wrap=True)


def progress_display(
    console: Console | None, title: str, *, start: int, steps: int
) -> ProgressDisplay:
    """Choose the display that fits where the output goes."""
    if console is None:
        return Silence()
    kind = Bar if console.is_terminal else Lines
    return kind(console, title, start=start, steps=steps)
