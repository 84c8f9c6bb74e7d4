"""Progress of a run: a bar on a terminal, an occasional line elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from attnlab.console import text_column

BAR_SECONDS, LINE_SECONDS = 0.2, 15.0


class Display:
    """Shows how far a run is; this one, for processes other than the lead, shows nothing."""

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Report a finished step, with its loss and number of tokens."""

    def evaluated(self, score: float, *, best: float | None) -> None:
        """Show the newest score on dev and the best so far."""

    def note(self, text: str) -> None:
        """Show what is being done between two steps; an empty text clears it."""


class Bar(Display):
    """A bar with loss, tokens per second and time left, for a terminal."""

    def __init__(self, progress: Progress, title: str, *, start: int, steps: int) -> None:
        self.progress, self.steps = progress, steps
        self._pace = _Smoothed(BAR_SECONDS)
        self._task = progress.add_task(
            title, total=steps, completed=start, loss="–", rate="–", scores="", note=""
        )

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Redraw, a few times a second at most."""
        if self._pace.is_due(loss=loss, tokens=tokens, last=step == self.steps):
            loss_text, rate_text = f"{self._pace.loss:.3f}", f"{self._pace.rate:,.0f}"
            self.progress.update(
                self._task, completed=step, loss=loss_text, rate=rate_text, refresh=True
            )

    def evaluated(self, score: float, *, best: float | None) -> None:
        """Put the scores next to the loss."""
        self.progress.update(self._task, scores=f"  {_scores(score, best)}", refresh=True)

    def note(self, text: str) -> None:
        """Put the text at the end of the bar."""
        self.progress.update(self._task, note=text and f"  {text}", refresh=True)


class Lines(Display):
    """Plain lines for a log file: at the start, every quarter of a minute, at the end."""

    def __init__(self, console: Console, title: str, *, start: int, steps: int) -> None:
        self.console, self.title, self.start, self.steps = console, title, start, steps
        self._pace, self._begun = _Smoothed(LINE_SECONDS), time.monotonic()
        self._print(f"{steps - start:,} more steps" if start else f"{steps:,} steps")

    def update(self, step: int, *, loss: float, tokens: int) -> None:
        """Print a line if one is due."""
        if self._pace.is_due(loss=loss, tokens=tokens, last=step == self.steps):
            seconds_per_step = (time.monotonic() - self._begun) / (step - self.start)
            self._print(
                f"step {step:,}/{self.steps:,}  loss {self._pace.loss:.3f}  "
                f"{self._pace.rate:,.0f} tokens/s  "
                f"{seconds_per_step * (self.steps - step):.0f} s left"
            )

    def evaluated(self, score: float, *, best: float | None) -> None:
        """Print the scores."""
        self._print(_scores(score, best))

    def _print(self, text: str) -> None:
        self.console.print(f"{self.title}: {text}", highlight=False, soft_wrap=True)


@contextmanager
def progress_display(
    console: Console | None, title: str, *, start: int, steps: int
) -> Iterator[Display]:
    """Show progress in the way that fits where the output goes."""
    if console is None:
        yield Display()
    elif not console.is_terminal:
        yield Lines(console, title, start=start, steps=steps)
    else:
        # The loop itself refreshes: a second thread would take turns with the training threads.
        with Progress(
            text_column("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            text_column("loss {task.fields[loss]}{task.fields[scores]}"),
            text_column("{task.fields[rate]} tokens/s"),
            TimeRemainingColumn(),
            text_column("{task.fields[note]}"),
            console=console,
            auto_refresh=False,
        ) as progress:
            yield Bar(progress, title, start=start, steps=steps)


def _scores(score: float, best: float | None) -> str:
    return f"dev {score:.3f}" + ("" if best is None else f" (best {best:.3f})")


class _Smoothed:
    """A smoothed loss, and the rate since the last look."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.loss, self.rate = 0.0, 0.0
        self._steps, self._tokens, self._since = 0, 0, time.monotonic()

    def is_due(self, *, loss: float, tokens: int, last: bool) -> bool:
        """Take a step in; say whether it is time to show something again."""
        self._steps += 1
        self.loss += (loss - self.loss) * max(0.05, 1 / self._steps)
        self._tokens += tokens
        elapsed = time.monotonic() - self._since
        if elapsed < self.interval and not last:
            return False
        self.rate = self._tokens / max(elapsed, 1e-9)
        self._tokens, self._since = 0, time.monotonic()
        return True
