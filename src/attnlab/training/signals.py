"""Stopping on request: Ctrl-C, and the signals that clusters send before they kill."""

import signal
import time
from types import FrameType
from typing import Any

from attnlab.errors import StoppedError

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
# torchrun passes on a Ctrl-C that the terminal has already sent: the echo is not a second one.
ECHO_SECONDS = 1.0


class StopRequest:
    """While active, a signal is noted for the loop to act on after the step.

    A second Ctrl-C stops at once; what was saved before stays usable.
    """

    def __init__(self) -> None:
        self.signal_number = 0
        self._since = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopRequest":
        """Listen."""
        for number in ASKING:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the previous handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        again = self.signal_number and time.monotonic() - self._since > ECHO_SECONDS
        if number == signal.SIGINT and again:
            raise StoppedError(
                "stopped at once. The same command goes on from the last checkpoint.",
                signal_number=number,
            )
        if not self.signal_number:
            self.signal_number, self._since = number, time.monotonic()
