"""The optimisers of one run with their schedules, and their state by parameter name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR, LRScheduler, SequentialLR

from attnlab.errors import UserError
from attnlab.training.optimisers import OPTIMISERS, Parameters
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.schedules import SCHEDULES
from attnlab.training.settings import OptimiserSettings, ScheduleSettings, TrainingSettings


class Optimisation:
    """Everything that moves the parameters."""

    def __init__(
        self, model: nn.Module, groups: ParameterGroups, settings: TrainingSettings, *, steps: int
    ) -> None:
        groups.check(model)
        named = dict(model.named_parameters())
        kinds = {f.name: {n: named[n] for n in getattr(groups, f.name)} for f in fields(groups)}
        dense = {kind: group for kind, group in kinds.items() if kind != "sparse"}
        self.optimisers: list[Optimizer] = []
        if any(dense.values()):
            self.optimisers += build_optimisers(settings.optimiser, dense)
        if kinds["sparse"]:
            torch.sparse.check_sparse_tensor_invariants.disable()  # type: ignore[no-untyped-call] # or it warns
            self.optimisers += build_optimisers(
                settings.sparse_optimiser, {"sparse": kinds["sparse"]}
            )
        if not self.optimisers:
            raise UserError("nothing to train: no parameter of the model has a gradient.")
        self.schedules = [build_schedule(o, settings.schedule, steps) for o in self.optimisers]
        self.dense = [p for group in dense.values() for p in group.values()]
        self.sparse = list(kinds["sparse"].values())
        self._names: dict[Tensor, str] = {parameter: name for name, parameter in named.items()}

    @property
    def lr(self) -> float:
        """The learning rate of the coming step, of the first optimiser."""
        return float(self.optimisers[0].param_groups[0]["lr"])

    def zero_gradients(self) -> None:
        """Forget the gradients of the last step."""
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)

    def step(self) -> None:
        """Move the parameters, then the learning rates."""
        for optimiser in self.optimisers:
            optimiser.step()
        for schedule in self.schedules:
            schedule.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return the optimisers' tensors, each called ``PARAMETER/KEY``."""
        return {name: v for name, v in self._entries().items() if isinstance(v, Tensor)}

    def state(self) -> dict[str, Any]:
        """Return what is no tensor, ready for JSON."""
        entries = self._entries()
        return {
            "numbers": {name: v for name, v in entries.items() if not isinstance(v, Tensor)},
            "rates": [[group["lr"] for group in o.param_groups] for o in self.optimisers],
            "schedules": [schedule.state_dict() for schedule in self.schedules],
        }

    def load(self, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        """Take back what ``tensors`` and ``state`` gave."""
        by_name = {name: parameter for parameter, name in self._names.items()}
        owner = {p: o for o in self.optimisers for group in o.param_groups for p in group["params"]}
        for entry, value in {**tensors, **state["numbers"]}.items():
            name, _, key = entry.rpartition("/")
            parameter = by_name[name]
            optimiser = owner[parameter]
            # A fused optimiser keeps even its step count where the parameter is.
            if isinstance(value, Tensor) and (value.ndim or optimiser.defaults.get("fused")):
                value = value.to(parameter.device)
            optimiser.state[parameter][key] = value
        for optimiser, rates in zip(self.optimisers, state["rates"], strict=True):
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate
        for schedule, saved in zip(self.schedules, state["schedules"], strict=True):
            schedule.load_state_dict(saved)

    def _entries(self) -> dict[str, Any]:
        return {
            f"{self._names[parameter]}/{key}": value
            for optimiser in self.optimisers
            for parameter, entries in optimiser.state.items()
            for key, value in entries.items()
        }


def build_optimisers(settings: OptimiserSettings, parameters: Parameters) -> list[Optimizer]:
    """Build the named optimiser; a value it refuses is the user's error."""
    if "lr" in settings.options:
        raise UserError("the learning rate is no option: set training.optimiser.lr itself.")
    options = {**settings.options, "lr": settings.lr}
    try:
        built: list[Optimizer] = OPTIMISERS.build(settings.name, parameters, options=options)
    except (ValueError, TypeError) as error:
        raise UserError(f"optimiser {settings.name!r} cannot take {options}: {error}.") from None
    return built


def build_schedule(optimiser: Optimizer, settings: ScheduleSettings, steps: int) -> LRScheduler:
    """Build the named schedule behind its warm-up."""
    warmup = round(settings.warmup * steps) if settings.warmup < 1 else round(settings.warmup)
    if warmup >= steps > 1:
        raise UserError(
            f"training.schedule.warmup = {settings.warmup:g} is {warmup} steps, but the run has"
            f" {steps}; choose fewer, or a share below 1."
        )

    def after(rest: int) -> LRScheduler:
        schedule: LRScheduler = SCHEDULES.build(
            settings.name, optimiser, rest, options=settings.options
        )
        return schedule

    if warmup < 2:  # a warm-up of one step starts at the full rate
        return after(steps)
    rise = LinearLR(optimiser, start_factor=1 / warmup, total_iters=warmup - 1)
    return SequentialLR(optimiser, [rise, after(steps - warmup)], milestones=[warmup])
