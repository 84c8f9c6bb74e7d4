"""Run the attnlab command line and kill or hurt it at a chosen point. Started as a real process.

    python driver.py '{"kill": "after step 7"}' knowledge pretrain …

Points: ``after step N`` (the weights have moved, nothing is logged yet), and in the n-th checkpoint
write ``save N: before FILE``, ``save N: half FILE``, ``save N: after FILE``, ``save N: before
rename``, ``save N: after rename``, ``save N: while pruning``. ``rank`` says which process dies.
The hooks live here: the product has none.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnlab.cli import main
from attnlab.recipes.knowledge import language_model
from attnlab.training import checkpoint, optimization

SPEC = json.loads(sys.argv.pop(1))
KILL, RANK = SPEC.get("kill", ""), SPEC.get("rank", 0)
steps, saves = 0, 0
language_model.LONGEST_ANSWER = 20  # a model that knows nothing stops early: quicker, and as wrong


def die_at(point: str) -> None:
    if point == KILL and int(os.environ.get("RANK", "0")) == RANK:
        os.kill(os.getpid(), signal.SIGKILL)


def after_each_step(step: Callable[[Any], None]) -> Callable[[Any], None]:
    def wrapped(self: Any) -> None:
        global steps
        step(self)
        steps += 1
        die_at(f"after step {steps}")

    return wrapped


def around_each_save(save: Callable[..., None]) -> Callable[..., None]:
    def wrapped(self: Any, step: int, content: Any) -> None:
        global saves
        saves += 1
        save(self, step, content)

    return wrapped


def around_each_file(write: Callable[[Path, bytes], None]) -> Callable[[Path, bytes], None]:
    def wrapped(path: Path, content: bytes) -> None:
        die_at(f"save {saves}: before {path.name}")
        if f"save {saves}: half {path.name}" == KILL:
            write(path, content[: len(content) // 2])
            die_at(KILL)
        write(path, content)
        die_at(f"save {saves}: after {path.name}")

    return wrapped


def around_each_rename(rename: Callable[..., Path]) -> Callable[..., Path]:
    def wrapped(self: Path, target: Path) -> Path:
        saving = self.name.startswith(".tmp-step")
        pruning = target.name.startswith(".tmp-step")
        if saving:
            die_at(f"save {saves}: before rename")
        result = rename(self, target)
        if saving:
            die_at(f"save {saves}: after rename")
        if pruning:
            die_at(f"save {saves}: while pruning")
        return result

    return wrapped


optimization.Optimization.step = after_each_step(optimization.Optimization.step)  # type: ignore[method-assign]
checkpoint.Checkpoints.save = around_each_save(checkpoint.Checkpoints.save)  # type: ignore[method-assign]
checkpoint.write_synced = around_each_file(checkpoint.write_synced)
Path.rename = around_each_rename(Path.rename)  # type: ignore[method-assign]
main()
