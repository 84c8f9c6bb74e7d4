"""Run the attnlab command line and kill it at its n-th event. Started as a real process.

    python killed_at_event.py '{"event": 31, "folder": "/…"}' knowledge pretrain …

An event is an optimizer step, or a file or folder below the folder that is opened for writing,
renamed, made or removed; the process dies before it. The last line of stderr counts the events of a
process that came to its end. The hook lives here: the product has none.
"""

import json
import os
import signal
import sys
from typing import Any

from attnlab.cli import main
from attnlab.recipes.knowledge import language_model
from attnlab.training import optimization

SPEC = json.loads(sys.argv.pop(1))
CHANGES = ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
events = 0
language_model.LONGEST_ANSWER = 20  # a model that knows nothing stops early: quicker, and as wrong


def count() -> None:
    global events
    events += 1
    if events == SPEC["event"]:
        os.kill(os.getpid(), signal.SIGKILL)


def hook(event: str, given: tuple[Any, ...]) -> None:
    if event not in CHANGES and not (event == "open" and given[2] & WRITES):
        return
    if str(given[0]).startswith(SPEC["folder"]):
        count()


def step(self: Any, whole: Any = optimization.Optimization.step) -> None:
    count()
    whole(self)


optimization.Optimization.step = step  # type: ignore[method-assign]
sys.addaudithook(hook)
try:
    main()
finally:
    sys.stderr.write(f"\nevents {events}\n")
