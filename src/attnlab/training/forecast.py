"""What a training will take: its steps and the time of some of them, before the first is taken."""

import time
from dataclasses import dataclass
from typing import Any

import torch

from attnlab.phases import phase
from attnlab.training.inference import inference
from attnlab.training.session import Session
from attnlab.training.settings import TrainingSettings
from attnlab.training.speed_trial import trial_steps
from attnlab.training.task import Task

WARM_UP, TIMED = 2, 6
"""Steps before and while the time is taken; the latter are spread over the run, whose batches
differ in length."""


@dataclass(frozen=True)
class Forecast:
    """How long a training is expected to take."""

    steps: int
    step_seconds: float
    evaluations: int
    """Those on the way and at the end, and the answers that are stored."""
    evaluation_seconds: float
    threads: int
    took: float
    """Seconds that the forecast itself took."""


class TimedOnly(Exception):  # noqa: N818 - what a trial ends with is no error
    """Training was only to be timed."""

    def __init__(self, found: Forecast) -> None:
        super().__init__("this training was only timed")
        self.forecast = found


def forecast(
    task: Task[Any], settings: TrainingSettings, session: Session, *, steps: int
) -> Forecast:
    """Time a few steps and one evaluation; the weights stay as they are."""
    began = time.perf_counter()
    spread = [1 + number * (steps - 1) // (TIMED - 1) for number in range(TIMED)]
    with phase("timing a few steps"), trial_steps(task, settings, session) as take:
        times = [take(step) for step in (*spread[:WARM_UP], *spread)][WARM_UP:]
    start = time.perf_counter()
    with phase("timing an evaluation"), inference(task.model, session.hardware):
        has_dev = task.evaluate() is not None
    on_the_way = (steps - 1) // settings.evaluate_every if settings.evaluate_every else 0
    return Forecast(
        steps=steps,
        step_seconds=sum(times) / len(times),
        evaluations=on_the_way + 2 if has_dev else 0,
        evaluation_seconds=time.perf_counter() - start,
        threads=torch.get_num_threads(),
        took=time.perf_counter() - began,
    )
