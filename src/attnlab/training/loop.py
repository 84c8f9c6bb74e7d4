"""The training loop: steps, evaluations, checkpoints, and a clean stop at any time."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn.modules.dropout import _DropoutNd

from attnlab.errors import DamagedFileError, StoppedError
from attnlab.phases import phase, shown_by
from attnlab.runs.directory import CONFIG, METRICS
from attnlab.runs.fields import State
from attnlab.runs.metrics import MetricsFile
from attnlab.runs.shapes import ADVICE, check_shape
from attnlab.training.checkpoint import (
    STATE,
    Checkpoint,
    Checkpoints,
    frozen_sha256,
    load_model_tensors,
    model_tensors,
)
from attnlab.training.forecast import TimedOnly, forecast
from attnlab.training.inference import inference
from attnlab.training.length import count_steps, parse_length
from attnlab.training.optimization import Optimization, check_patience
from attnlab.training.pace import Pace
from attnlab.training.progress import Display, progress_display
from attnlab.training.session import THREADS, Session
from attnlab.training.settings import TrainingSettings
from attnlab.training.signals import StopRequest
from attnlab.training.speed_trial import decide_threads, seconds_per_step
from attnlab.training.step import NonFiniteError, Stepper, StepResult
from attnlab.training.task import Task


@dataclass(frozen=True)
class TrainingState:
    """How far a run is; with the weights and the optimizers' tensors, all there is to know."""

    step: int = 0
    best_step: int | None = None
    best_score: float | None = None
    worse_evaluations: int = 0
    stopped_early: bool = False
    tokens: int = 0
    seconds: float = 0.0
    metrics_bytes: int = 0

    def summary(self) -> dict[str, Any]:
        """Return what the run's record holds."""
        return {
            "steps": self.step,
            "best_step": self.best_step,
            "stopped_early": self.stopped_early,
            "tokens": self.tokens,
            "training_seconds": round(self.seconds, 2),
        }


class Training:
    """One task being trained in one session; ``train`` is the way in."""

    def __init__(self, task: Task[Any], settings: TrainingSettings, session: Session) -> None:
        self.task, self.settings, self.session = task, settings, session
        check_patience(settings)
        session.hardware.place(task.model)
        torch.set_num_threads(
            session.resolve_once(THREADS, lambda: decide_threads(task, settings, session))
        )
        self.steps = self._count_steps()
        groups = task.parameter_groups()
        precision = session.hardware.precision
        self.optimization = Optimization(
            task.model, groups, settings, steps=self.steps, precision=precision
        )
        self.stepper = Stepper(
            task, self.optimization, settings, session.hardware, session.processes
        )
        self.checkpoints = Checkpoints(
            session.run.path / "checkpoints", keep_last=settings.keep_last
        )
        self.frozen_sha256 = frozen_sha256(task.model)
        self.state = TrainingState()
        self._metrics: MetricsFile | None = None
        self._progress, self._pace = Display(), Pace()

    def remaining_steps(self) -> Iterator[int]:
        """Count the steps that are left, as long as nothing stops the run early."""
        while self.state.step < self.steps and not self.state.stopped_early:
            yield self.state.step + 1

    @contextmanager
    def going(self) -> Iterator[StopRequest]:
        """Log, show progress and listen for signals while steps are taken."""
        if next(self.remaining_steps(), None) is None:
            yield StopRequest()
            return
        self.session.processes.from_lead(self._open_metrics)
        title, start = self.session.run.name, self.state.step
        display = progress_display(self.session.console, title, start=start, steps=self.steps)
        try:
            with StopRequest() as stop, display as self._progress, shown_by(self._progress.note):
                yield stop
        except NonFiniteError as error:
            newest = next(iter(self.checkpoints.steps()), None)
            kept = f"The checkpoint of step {newest} is kept. " if newest else ""
            advice = "Look at those examples, or lower the learning rate."
            raise NonFiniteError(f"{error} {kept}{advice}") from None
        finally:
            if self._metrics:
                self._metrics.close()

    def take_up_the_best(self) -> None:
        """Load the weights that were best on dev, if there was a score on dev."""
        if self.state.best_step is not None:
            best = self.checkpoints.load(self.state.best_step)
            load_model_tensors(self.task.model, best.model)

    def finish_step(self, step: int, result: StepResult, began: float) -> None:
        """Log, evaluate and save as the settings say; leave if a signal asked for it."""
        took = time.perf_counter() - began
        self._progress.update(step, loss=result.loss, tokens=result.tokens)
        if slowdown := self._pace.slowdown(result.tokens, took):
            self.session.say(slowdown)
        last, every = step == self.steps, self.settings
        seconds = self.state.seconds + took
        tokens = self.state.tokens + result.tokens
        self.state = replace(self.state, step=step, tokens=tokens, seconds=seconds)
        if last or step % every.log_every == 0:
            self._log(
                {
                    "step": step,
                    "loss": result.loss,
                    **({} if len(result.terms) == 1 else result.terms),
                    "gradient_norm": result.gradient_norm,
                    "lr": result.lr,
                    "tokens": tokens,
                    "seconds": round(seconds, 3),
                }
            )
        improved = False
        if last or (every.evaluate_every and step % every.evaluate_every == 0):
            improved = self._evaluate()
        stop = result.stop_signal
        if last or improved or stop or self.state.stopped_early or step % every.save_every == 0:
            self.session.processes.from_lead(self._save)
        if stop:
            raise StoppedError(
                f"stopped after step {step} of {self.steps}; everything is saved in"
                f" {self.session.run.path}. The same command goes on from there.",
                signal_number=stop,
            )

    def _evaluate(self) -> bool:
        """Score the model; return whether it is the best so far."""
        began = time.perf_counter()
        with phase("evaluating"), inference(self.task.model, self.session.hardware):
            evaluation = self.task.evaluate()
        if evaluation is None:
            return False
        step = self.state.step
        score = self.session.processes.from_lead(lambda: evaluation.score)
        numbers = {} if score is None else {"score": float(score)}
        for name, value in {**numbers, **evaluation.metrics}.items():
            if not math.isfinite(value):
                raise NonFiniteError(f"evaluated after step {step}: {name} is {value}.")
        seconds = round(time.perf_counter() - began, 3)
        took = {"seconds": round(self.state.seconds, 3), "evaluation_seconds": seconds}
        self._log({"step": step, **evaluation.metrics, **took})
        if score is None:
            return False
        improved = self._is_best(float(score))
        self._progress.evaluated(float(score), best=self.state.best_score)
        return improved

    def _is_best(self, score: float) -> bool:
        """Note a score on dev; return whether it is the best so far."""
        state = self.state
        improved = state.best_score is None or score > state.best_score
        worse = 0 if improved else state.worse_evaluations + 1
        self.state = replace(
            state,
            best_step=state.step if improved else state.best_step,
            best_score=score if improved else state.best_score,
            worse_evaluations=worse,
            stopped_early=0 < self.settings.patience <= worse and state.step < self.steps,
        )
        return improved

    def _open_metrics(self) -> None:
        path = self.session.run.path / METRICS
        self._metrics = MetricsFile(path, keep=self.state.metrics_bytes)

    def _log(self, line: Mapping[str, Any]) -> None:
        """Let the lead write a line; if it cannot, every process learns why."""

        def write() -> None:
            assert self._metrics is not None
            self._metrics.append(line)

        self.session.processes.from_lead(write)

    @phase("saving a checkpoint")
    def _save(self) -> None:
        assert self._metrics is not None
        self.state = replace(self.state, metrics_bytes=self._metrics.sync())
        state = asdict(self.state) | {
            "optimization": self.optimization.state(),
            "frozen_sha256": self.frozen_sha256,
        }
        model, optimizer = model_tensors(self.task.model), self.optimization.tensors()
        self.checkpoints.save(self.state.step, Checkpoint(model, optimizer, state))

    def restore(self) -> None:
        """Take up the newest whole checkpoint, if the run has one."""

        def newest() -> int | None:
            self.checkpoints.remove_leftovers()
            return self.checkpoints.newest_complete(self.session.say)

        step = self.session.processes.from_lead(newest)
        if step is not None:
            checkpoint = self.checkpoints.load(step)
            saved = dict(checkpoint.state)
            place = self.checkpoints.path(step) / STATE
            check_shape(saved, State, place)
            if saved["step"] != step:
                raise DamagedFileError(f"{place}: step is {saved['step']}, not {step}.")
            if saved.pop("frozen_sha256") != self.frozen_sha256:
                raise DamagedFileError(
                    f"{self.checkpoints.path(step)} was trained on another base model: the frozen"
                    " parameters differ. Give the base model the run was begun with."
                )
            load_model_tensors(self.task.model, checkpoint.model)
            self.optimization.load(checkpoint.optimizer, saved.pop("optimization"))
            self.state = TrainingState(**saved)
            self.session.say(f"resumed at step {step:,} of {self.steps:,}")
            self.session.say_other_processes(has_dropout=has_dropout(self.task.model))
            self._forget_a_lost_best()
            # a kill right after a save has left what that save was to remove
            best = self.state.best_step
            self.session.processes.from_lead(lambda: self.checkpoints.prune(best=best))
        self.task.model.train()

    def _forget_a_lost_best(self) -> None:
        """Go on without the best checkpoint if it is damaged, and look for the best again."""
        best = self.state.best_step
        if best is None:
            return
        problem = self.session.processes.from_lead(lambda: self.checkpoints.problem(best))
        if problem:
            self.session.say(f"{problem} It was the best one on dev; the search starts again.")
            self.state = replace(self.state, best_step=None, best_score=None, worse_evaluations=0)

    def _count_steps(self) -> int:
        """Count the steps of the whole run; what it was begun with must be what is counted now."""
        length = parse_length(self.settings.length)
        decided = self.session.run.config["resolved"].get("steps")
        if decided and length.unit == "seconds":
            return int(decided)  # measured then, and measured now it would be another number
        steps = count_steps(
            length,
            steps_in=self.task.steps_in,
            seconds_per_step=lambda: seconds_per_step(self.task, self.settings, self.session),
        )
        # every process has counted; from the lead come the steps that were measured in seconds
        begun_with = int(self.session.resolve_once("steps", lambda: steps))
        if decided and begun_with != steps:
            raise DamagedFileError(
                f"{self.session.run.path / CONFIG}: resolved.steps is {begun_with}, not {steps},"
                f" which is what {self.settings.length!r} comes to. {ADVICE}"
            )
        return begun_with


def has_dropout(model: nn.Module) -> bool:
    """Say whether a model drops activations in training, by a layer of torch's or ours."""
    return any(isinstance(m, _DropoutNd) and m.p > 0 for m in model.modules())


def train(task: Task[Any], settings: TrainingSettings, session: Session) -> TrainingState:
    """Train a task to the end, or go on where its run stopped.

    Afterwards the model holds the weights that were best on dev, or the last ones if there is no
    dev score. A signal saves and raises StoppedError; a trial raises TimedOnly instead of training.
    """
    training = Training(task, settings, session)
    if session.is_trial:
        raise TimedOnly(forecast(task, settings, session, steps=training.steps))
    training.restore()
    with training.going() as stop:
        for step in training.remaining_steps():
            began = time.perf_counter()
            result = training.stepper.take(step, asked_to_stop=lambda: stop.signal_number)
            training.finish_step(step, result, began)
    training.take_up_the_best()
    return training.state
