"""Trial steps: taken before the first real one to learn how fast this machine is, then undone."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from attnlab.phases import phase
from attnlab.training.checkpoint import load_model_tensors, model_tensors
from attnlab.training.hardware import all_threads, chosen_threads
from attnlab.training.length import count_steps, parse_length
from attnlab.training.optimization import Optimization
from attnlab.training.session import Session
from attnlab.training.settings import ScheduleSettings, TrainingSettings
from attnlab.training.step import Stepper
from attnlab.training.task import Task

TIMED_STEPS = 10
STILL = 1e-12
"""Learning rate of trial steps: they cost what real ones do, and cannot diverge."""
LEAST_ROUNDS, MOST_ROUNDS = 3, 20
CLEAR = 1.1
"""How many times faster one of two must be in every round to be chosen early."""
TRIAL_SECONDS, TRIAL_SHARE = 2.0, 0.02
"""A trial may take that long, or that share of the run if it is longer."""

TimedStep = Callable[[int], float]
"""Takes a step and returns its seconds."""


@contextmanager
def trial_steps(
    task: Task[Any], settings: TrainingSettings, session: Session
) -> Iterator[TimedStep]:
    """Time steps of this very task; afterwards the weights are as they were."""
    before = {name: tensor.clone() for name, tensor in model_tensors(task.model).items()}
    still = replace(
        settings,
        schedule=ScheduleSettings(),
        optimizer=replace(settings.optimizer, lr=STILL),
        sparse_optimizer=replace(settings.sparse_optimizer, lr=STILL),
    )
    groups, steps = task.parameter_groups(), 2 * MOST_ROUNDS
    precision = session.hardware.precision
    optimization = Optimization(task.model, groups, still, steps=steps, precision=precision)
    stepper = Stepper(task, optimization, still, session.hardware, session.processes)
    task.model.train()

    def take(step: int) -> float:
        began = time.perf_counter()
        stepper.take(step)
        return time.perf_counter() - began

    try:
        yield take
    finally:
        optimization.zero_gradients()
        load_model_tensors(task.model, before)


def seconds_per_step(task: Task[Any], settings: TrainingSettings, session: Session) -> float:
    """Time some steps; the first ones are slower, as caches fill and memory is mapped."""
    with phase("timing a few steps"), trial_steps(task, settings, session) as take:
        times = [take(step) for step in range(1, 2 * TIMED_STEPS + 1)]
    return statistics.mean(times[TIMED_STEPS:])


def decide_threads(task: Task[Any], settings: TrainingSettings, session: Session) -> int:
    """Take what the user asks for, else one thread or all cores, whichever is faster here."""
    most = all_threads(local_processes=session.processes.local_size)
    chosen = chosen_threads(settings)
    alone_on_cpu = session.processes.size == 1 and session.hardware.device.type == "cpu"
    if chosen or most == 1 or not alone_on_cpu:
        return chosen or most

    def run_seconds(step_seconds: float) -> float:
        length = parse_length(settings.length)
        steps = count_steps(length, steps_in=task.steps_in, seconds_per_step=lambda: step_seconds)
        return steps * step_seconds

    text = f"timing a few steps with 1 and {most} threads"
    with phase(text), trial_steps(task, settings, session) as take:
        return faster_threads(take, most, run_seconds=run_seconds)


def faster_threads(take: TimedStep, most: int, *, run_seconds: Callable[[float], float]) -> int:
    """Return 1 or ``most`` threads, whichever takes steps faster; they take turns.

    ``run_seconds`` tells from the seconds of a step how long the run will be. A step so long that
    a comparison would take too much of it has work enough for every core.
    """

    def timed(threads: int, step: int) -> float:
        torch.set_num_threads(threads)
        return take(step)

    timed(most, 1)
    began, first = time.perf_counter(), timed(most, 1)
    allowed = max(TRIAL_SECONDS, TRIAL_SHARE * run_seconds(first))
    if LEAST_ROUNDS * (1 + most) * first > allowed:
        return most
    timed(1, 1)
    ratios: list[float] = []
    while len(ratios) < MOST_ROUNDS and time.perf_counter() - began < allowed:
        step = 1 + len(ratios)
        ratios.append(timed(most, step) / timed(1, step))  # above 1: one thread is faster
        if len(ratios) >= LEAST_ROUNDS and (min(ratios) > CLEAR or max(ratios) < 1 / CLEAR):
            break
    return 1 if ratios and statistics.median(ratios) > 1 else most
