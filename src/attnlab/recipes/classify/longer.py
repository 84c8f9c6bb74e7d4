"""Going on from a finished run: the same training for longer, or the same model with test read.

At a constant rate the first steps of a longer run are those of a shorter one. So a run that resumes
from a finished one ends with the weights, bit for bit, that it would have had from the start.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from attnlab.config import to_dict
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.files import HASHES
from attnlab.runs.directory import METRICS, Run
from attnlab.runs.files import replace_file
from attnlab.runs.folders import differences
from attnlab.runs.manifest import read_sealed
from attnlab.training.checkpoint import Checkpoint, Checkpoints
from attnlab.training.length import parse_length
from attnlab.training.session import Session
from attnlab.training.settings import ScheduleSettings

MAY_DIFFER = ("resume_from", "read_test", "training.length", "training.evaluate_every")
NO_BEST = {"best_step": None, "best_score": None, "worse_evaluations": 0}
"""The last step is kept, so that what the shorter run scored after its own does not matter."""


def goes_on(schedule: ScheduleSettings) -> bool:
    """Say whether a longer run of this schedule begins as a shorter one does."""
    return schedule.name == "constant" and (schedule.warmup == 0 or schedule.warmup >= 1)


def refuse_other_training(settings: ClassifySettings) -> None:
    """Refuse to go on from a run that is not the beginning of this one."""
    earlier = Run.open(Path(settings.resume_from))
    if not earlier.finished or earlier.config["job"] != "classify-train":
        raise UserError(
            f"resume_from = {earlier.path} is not a finished run of attnlab classify train."
        )
    if why := next(_reasons(settings, earlier), None):
        raise UserError(f"this run cannot resume from {earlier.name}: {why}")


def _reasons(settings: ClassifySettings, earlier: Run) -> Iterator[str]:
    """Say why a run cannot go on from another, the first reason first."""
    training = settings.training
    there, now = earlier.config["settings"], json.loads(json.dumps(to_dict(settings)))
    for key, old, new in differences(there, now):
        if key not in MAY_DIFFER:
            yield f"{key} is {old!r} there and {new!r} here. Only the length may differ."
    if training.evaluate_every:
        yield (
            f"training.evaluate_every = {training.evaluate_every} would keep another step than the"
            " last one. Set it to 0."
        )
    length, before = parse_length(training.length), parse_length(there["training"]["length"])
    if length == before:
        return
    if not goes_on(training.schedule):
        yield (
            f"schedule {training.schedule.name} with warmup {training.schedule.warmup:g} depends on"
            " the length. Use a constant one, with a warm-up given in steps."
        )
    if length.unit != before.unit or length.unit == "seconds" or length.amount < before.amount:
        yield (
            f"training.length is {there['training']['length']} there and {training.length} here."
            " Give more of the same unit: steps, epochs or tokens."
        )


def take_over(settings: ClassifySettings, session: Session) -> None:
    """Begin with the earlier run's last checkpoint and log, unless this run has its own."""
    session.processes.from_lead(lambda: _copy(Run.open(Path(settings.resume_from)), session))


def _copy(earlier: Run, session: Session) -> None:
    run = session.run
    own = Checkpoints(run.path / "checkpoints", keep_last=1)
    if own.steps():
        return  # it was stopped, and goes on from there
    for what, old, new in differences(_begun_with(earlier), _begun_with(run)):
        raise UserError(
            f"this run cannot resume from {earlier.name}: {what} was {old} there and is {new} here."
        )
    theirs = replace(own, folder=earlier.path / "checkpoints")
    last = theirs.load(int(earlier.recorded("steps")))
    replace_file(run.path / METRICS, read_sealed(earlier.path / METRICS))
    state = {**last.state, **NO_BEST}
    own.save(int(last.state["step"]), Checkpoint(last.model, last.optimizer, state))


def _begun_with(run: Run) -> dict[str, str]:
    """Return the hashes of what a run learns from, and its precision."""
    files = {name: sha for name, sha in run.resolved(HASHES).items() if name != "resume_from"}
    return {
        **{f"the hash of {name}": sha for name, sha in files.items()},
        "the hash of the model": run.resolved("base"),
        "the precision": run.resolved("hardware")["precision"],
    }
