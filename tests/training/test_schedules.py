"""The learning rate over a run, warm-up included."""

import math

import pytest
import torch
from torch import nn

from attnlab.errors import UserError
from attnlab.training.optimization import build_schedule
from attnlab.training.schedules import SCHEDULES
from attnlab.training.settings import ScheduleSettings


def rates(settings: ScheduleSettings, steps: int) -> list[float]:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=2.0)
    schedule = build_schedule(optimizer, settings, steps)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return found


def test_the_schedules_of_the_house_are_listed() -> None:
    assert {"constant", "cosine", "linear"} <= set(SCHEDULES.names())


@pytest.mark.parametrize("name", SCHEDULES.names())
def test_the_warm_up_rises_in_equal_steps_to_the_full_rate(name: str) -> None:
    found = rates(ScheduleSettings(name, warmup=4), 10)
    assert found[:5] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0])


def test_a_warm_up_below_one_is_a_share_of_the_run() -> None:
    assert rates(ScheduleSettings(warmup=0.4), 10) == rates(ScheduleSettings(warmup=4), 10)


def test_linear_falls_in_equal_steps_towards_its_final_share() -> None:
    found = rates(ScheduleSettings("linear", options={"final": 0.5}), 4)
    assert found == pytest.approx([2.0, 1.75, 1.5, 1.25])


@pytest.mark.parametrize("warmup", [0, 3], ids=["cold", "warmed up"])
def test_cosine_falls_on_half_a_cosine(warmup: int) -> None:
    found = rates(ScheduleSettings("cosine", warmup=warmup, options={"final": 0.1}), 8 + warmup)
    expected = [0.2 + 1.8 * (1 + math.cos(math.pi * i / 8)) / 2 for i in range(8)]
    assert found[warmup:] == pytest.approx(expected)


def test_a_warm_up_longer_than_the_run_is_refused() -> None:
    with pytest.raises(UserError, match="warmup = 12 is 12 steps, but the run has 10"):
        rates(ScheduleSettings(warmup=12), 10)


@pytest.mark.parametrize("final", [-1, 2])
@pytest.mark.parametrize("name", ["cosine", "linear"])
def test_an_impossible_final_share_is_refused(name: str, final: float) -> None:
    with pytest.raises(UserError, match=rf"schedule '{name}': option final = {final} is not poss"):
        rates(ScheduleSettings(name, options={"final": final}), 10)


def test_an_unknown_option_of_a_schedule_is_refused() -> None:
    with pytest.raises(UserError, match="schedule 'constant' has no option 'final'"):
        rates(ScheduleSettings(options={"final": 0.1}), 10)
