"""The optimizers of one run with their schedules, and their state by parameter name."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR, LRScheduler, SequentialLR

from attnlab.errors import DamagedFileError, UserError
from attnlab.training.length import parse_length
from attnlab.training.optimizers import OPTIMIZERS, Parameters
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.schedules import SCHEDULES
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings

AUTO = "auto"
LONGEST_WARMUP = 10**9
"""Steps of a run whose length is not known yet: no warm-up is too long for it."""


class Optimization:
    """Everything that moves the parameters."""

    def __init__(
        self,
        model: nn.Module,
        groups: ParameterGroups,
        settings: TrainingSettings,
        *,
        steps: int,
        precision: str = "float32",
    ) -> None:
        """Take the parameters by kind; an option that is ``auto`` becomes the run's precision."""
        groups.check(model)
        named = dict(model.named_parameters())
        kinds = {f.name: {n: named[n] for n in getattr(groups, f.name)} for f in fields(groups)}
        dense = {kind: group for kind, group in kinds.items() if kind != "sparse"}
        self.optimizers: list[Optimizer] = []
        if any(dense.values()):
            self.optimizers += build_optimizers(_resolved(settings.optimizer, precision), dense)
        if kinds["sparse"]:
            torch.sparse.check_sparse_tensor_invariants.disable()  # type: ignore[no-untyped-call] # or it warns
            self.optimizers += build_optimizers(
                settings.sparse_optimizer, {"sparse": kinds["sparse"]}
            )
        if not self.optimizers:
            raise UserError("nothing to train: no parameter of the model has a gradient.")
        self.schedules = [build_schedule(o, settings.schedule, steps) for o in self.optimizers]
        self.dense = [p for group in dense.values() for p in group.values()]
        self.sparse = list(kinds["sparse"].values())
        self._names: dict[Tensor, str] = {parameter: name for name, parameter in named.items()}

    @property
    def lr(self) -> float:
        """The learning rate of the coming step, of the first optimizer."""
        return float(self.optimizers[0].param_groups[0]["lr"])

    def zero_gradients(self) -> None:
        """Forget the gradients of the last step."""
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)

    def step(self) -> None:
        """Move the parameters, then the learning rates."""
        for optimizer in self.optimizers:
            optimizer.step()
        for schedule in self.schedules:
            schedule.step()

    def tensors(self) -> dict[str, Tensor]:
        """Return the optimizers' tensors, each called ``PARAMETER/KEY``."""
        return {name: v for name, v in self._entries().items() if isinstance(v, Tensor)}

    def state(self) -> dict[str, Any]:
        """Return what is no tensor, ready for JSON."""
        entries = self._entries()
        return {
            "numbers": {name: v for name, v in entries.items() if not isinstance(v, Tensor)},
            "rates": [[group["lr"] for group in o.param_groups] for o in self.optimizers],
            "schedules": [schedule.state_dict() for schedule in self.schedules],
        }

    def load(self, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        """Take back what ``tensors`` and ``state`` gave."""
        self._refuse_another_state(tensors, state)
        by_name = {name: parameter for parameter, name in self._names.items()}
        owner = {p: o for o in self.optimizers for group in o.param_groups for p in group["params"]}
        for entry, value in {**tensors, **state["numbers"]}.items():
            name, _, key = entry.rpartition("/")
            parameter = by_name[name]
            optimizer = owner[parameter]
            # A fused optimizer keeps even its step count where the parameter is.
            if isinstance(value, Tensor) and (value.ndim or optimizer.defaults.get("fused")):
                value = value.to(parameter.device)
            optimizer.state[parameter][key] = value
        for optimizer, rates in zip(self.optimizers, state["rates"], strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate
        for schedule, saved in zip(self.schedules, state["schedules"], strict=True):
            schedule.load_state_dict(saved)

    def _refuse_another_state(
        self, tensors: Mapping[str, Tensor], state: Mapping[str, Any]
    ) -> None:
        """Refuse a state that other optimizers, or schedules, have left behind."""
        entries = {*tensors, *state["numbers"]}
        unknown = sorted({name.rpartition("/")[0] for name in entries} - {*self._names.values()})
        now = self.state()
        for part in ("rates", "schedules"):
            if _kinds(state[part]) != _kinds(now[part]):
                unknown.append(part)
        if unknown:
            raise DamagedFileError(
                "the checkpoint does not fit these optimizers; it differs in:"
                f" {', '.join(unknown)}."
            )

    def _entries(self) -> dict[str, Any]:
        return {
            f"{self._names[parameter]}/{key}": value
            for optimizer in self.optimizers
            for parameter, entries in optimizer.state.items()
            for key, value in entries.items()
        }


def _resolved(settings: OptimizerSettings, precision: str) -> OptimizerSettings:
    options = {key: precision if v == AUTO else v for key, v in settings.options.items()}
    return replace(settings, options=options)


def check_training(settings: TrainingSettings) -> None:
    """Refuse settings that no run can train with, before there is a model: names, options."""
    tiny = nn.Sequential(nn.Linear(2, 2), nn.Embedding(2, 2, sparse=True))
    length = parse_length(settings.length)
    steps = max(1, int(length.amount)) if length.unit == "steps" else LONGEST_WARMUP
    check_patience(settings)
    Optimization(tiny, ParameterGroups.of(tiny), settings, steps=steps)


def check_patience(settings: TrainingSettings) -> None:
    """Refuse to count evaluations that do not take place."""
    if settings.patience and not settings.evaluate_every:
        raise UserError(
            f"training.patience = {settings.patience} counts evaluations, but there are none"
            " on the way: set training.evaluate_every as well."
        )


def _kinds(value: Any) -> Any:
    """Return a value with every number, text and truth replaced by the name of its type."""
    if isinstance(value, dict):
        return {key: _kinds(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_kinds(inner) for inner in value]
    return "number" if type(value) in (int, float) else type(value).__name__


def build_optimizers(settings: OptimizerSettings, parameters: Parameters) -> list[Optimizer]:
    """Build the named optimizer; a value it refuses is the user's error."""
    if "lr" in settings.options:
        raise UserError("the learning rate is no option: set training.optimizer.lr itself.")
    options = {**settings.options, "lr": settings.lr}
    try:
        built: list[Optimizer] = OPTIMIZERS.build(settings.name, parameters, options=options)
    except (ValueError, TypeError) as error:
        raise UserError(f"optimizer {settings.name!r} cannot take {options}: {error}.") from None
    return built


def build_schedule(optimizer: Optimizer, settings: ScheduleSettings, steps: int) -> LRScheduler:
    """Build the named schedule behind its warm-up."""
    warmup = round(settings.warmup * steps) if settings.warmup < 1 else round(settings.warmup)
    if warmup >= steps > 1:
        raise UserError(
            f"training.schedule.warmup = {settings.warmup:g} is {warmup} steps, but the run has"
            f" {steps}; choose fewer, or a share below 1."
        )

    def after(rest: int) -> LRScheduler:
        schedule: LRScheduler = SCHEDULES.build(
            settings.name, optimizer, rest, options=settings.options
        )
        return schedule

    if warmup < 2:  # a warm-up of one step starts at the full rate
        return after(steps)
    rise = LinearLR(optimizer, start_factor=1 / warmup, total_iters=warmup - 1)
    return SequentialLR(optimizer, [rise, after(steps - warmup)], milestones=[warmup])
